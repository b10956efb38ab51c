// Native cost of Pinocchio's analytic derivatives on one model.
//
//   pinocchio_derivatives MODEL.xml STATES.bin
//
// STATES.bin holds rows of doubles: q, v, and a or tau. The program stays alive; for each line "job repeats" on its input
// it runs the job that often, over the states in turn, and prints the microseconds of processor time per run.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <time.h>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

using Row = Eigen::VectorXd;

static double now() {  // of this thread: what others run in between does not count
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

int main(int, char** arguments) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromXML(model, arguments[1], "model");
  pinocchio::Data data(model);
  std::vector<Row> q, v, a;
  std::ifstream in(arguments[2], std::ios::binary);
  Row row(model.nq + 2 * model.nv);
  while (in.read(reinterpret_cast<char*>(row.data()), static_cast<long>(sizeof(double)) * row.size())) {
    q.push_back(row.head(model.nq));
    v.push_back(row.segment(model.nq, model.nv));
    a.push_back(row.tail(model.nv));
  }
  std::string job;
  long repeats;
  while (std::cin >> job >> repeats) {
    const double start = now();
    for (long turn = 0; turn < repeats; ++turn) {
      const size_t k = static_cast<size_t>(turn) % q.size();
      if (job == "rnea_derivatives")
        pinocchio::computeRNEADerivatives(model, data, q[k], v[k], a[k]);
      else
        pinocchio::computeABADerivatives(model, data, q[k], v[k], a[k]);
    }
    std::cout << (now() - start) / static_cast<double>(repeats) << std::endl;
  }
}
