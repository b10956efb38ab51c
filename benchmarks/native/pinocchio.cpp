// Native cost of Pinocchio's algorithms on one model.
//
//   pinocchio MODEL.xml STATES.bin
//
// STATES.bin holds rows of doubles: q, v, a. The program stays alive; for each line "job repeats" on its input it runs
// the job that often, over the states in turn, and prints the microseconds of processor time per run.
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <time.h>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using pinocchio::Convention;
using Row = Eigen::VectorXd;

static std::vector<Row> states(const char* file, int size) {
  std::ifstream in(file, std::ios::binary);
  std::vector<Row> rows;
  Row row(size);
  while (in.read(reinterpret_cast<char*>(row.data()), sizeof(double) * size)) rows.push_back(row);
  return rows;
}

static double now() {  // of this thread: what others run in between does not count
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

int main(int, char** argv) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromXML(model, argv[1], "model");
  pinocchio::Data data(model);
  const int nq = model.nq, nv = model.nv;
  std::vector<Row> q, v, a;
  for (const Row& row : states(argv[2], nq + 2 * nv)) {
    q.push_back(row.head(nq));
    v.push_back(row.segment(nq, nv));
    a.push_back(row.tail(nv));
  }
  const int n = static_cast<int>(q.size());
  Row x(nv);
  Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv);
  J.setZero();
  const auto frame = model.nframes - 1;  // the runner adds the one to measure last
  pinocchio::crba(model, data, q[0], Convention::WORLD);  // fills the matrix that is factorised

  const std::map<std::string, std::function<void(int)>> jobs = {
      {"rnea", [&](int k) { pinocchio::rnea(model, data, q[k], v[k], a[k]); }},
      {"aba", [&](int k) { pinocchio::aba(model, data, q[k], v[k], a[k], Convention::LOCAL); }},
      {"aba_world", [&](int k) { pinocchio::aba(model, data, q[k], v[k], a[k], Convention::WORLD); }},
      {"crba", [&](int k) { pinocchio::crba(model, data, q[k], Convention::LOCAL); }},
      {"crba_world", [&](int k) { pinocchio::crba(model, data, q[k], Convention::WORLD); }},
      {"jacobian",
       [&](int k) { pinocchio::computeFrameJacobian(model, data, q[k], frame, pinocchio::LOCAL, J); }},
      {"factor_solve",
       [&](int k) {
         pinocchio::cholesky::decompose(model, data);
         x = a[k];
         pinocchio::cholesky::solve(model, data, x);
       }},
  };
  std::string name;
  long repeats;
  while (std::cin >> name >> repeats) {
    const auto& job = jobs.at(name);
    const double start = now();
    for (long k = 0; k < repeats; ++k) job(static_cast<int>(k % n));
    std::cout << (now() - start) / static_cast<double>(repeats) << std::endl;
  }
}
