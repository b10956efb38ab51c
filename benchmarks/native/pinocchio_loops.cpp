// Native cost of Pinocchio's constraint dynamics on one model with loops.
//
//   pinocchio_loops MODEL.xml STATES.bin LOOPS.bin
//
// STATES.bin holds rows of doubles: q, v, tau. LOOPS.bin holds rows of 27 doubles: the number of constraints (3 or 6), and
// for both sides the joint, the rotation row by row and the origin. The program stays alive; for each line "job repeats"
// on its input it runs the job that often, over the states in turn, and prints the microseconds of processor time per run.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <time.h>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

using Row = Eigen::VectorXd;

static std::vector<Row> rows(const char* file, int size) {
  std::ifstream in(file, std::ios::binary);
  std::vector<Row> result;
  Row row(size);
  while (in.read(reinterpret_cast<char*>(row.data()), sizeof(double) * size)) result.push_back(row);
  return result;
}

static double now() {  // of this thread: what others run in between does not count
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

static pinocchio::SE3 placement(const double* x) {
  pinocchio::SE3 X;
  X.rotation() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x);
  X.translation() = Eigen::Map<const Eigen::Vector3d>(x + 9);
  return X;
}

int main(int, char** arguments) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromXML(model, arguments[1], "model");
  const std::vector<Row> states = rows(arguments[2], model.nq + 2 * model.nv);
  std::vector<pinocchio::RigidConstraintModel> loops;
  std::vector<pinocchio::RigidConstraintData> datas;
  for (const Row& x : rows(arguments[3], 27)) {
    const auto type = x[0] == 6 ? pinocchio::CONTACT_6D : pinocchio::CONTACT_3D;
    const auto first = static_cast<pinocchio::JointIndex>(x[1]), second = static_cast<pinocchio::JointIndex>(x[14]);
    loops.emplace_back(type, model, first, placement(&x[2]), second, placement(&x[15]), pinocchio::LOCAL);
  }
  for (const auto& loop : loops) datas.emplace_back(loop);
  pinocchio::Data data(model), lcaba(model);
  pinocchio::initConstraintDynamics(model, data, loops, datas);
  pinocchio::computeJointMinimalOrdering(model, lcaba, loops);
  pinocchio::ProximalSettings exact(1e-12, 1e-10, 10), proximal(1e-12, 1e-6, 10);
  std::string job;
  long repeats;
  while (std::cin >> job >> repeats) {
    const double start = now();
    for (long k = 0; k < repeats; ++k) {
      const Row& x = states[static_cast<size_t>(k) % states.size()];
      const auto q = x.head(model.nq), v = x.segment(model.nq, model.nv), tau = x.tail(model.nv);
      if (job == "lcaba")
        pinocchio::lcaba(model, lcaba, q, v, tau, loops, datas, proximal);
      else
        pinocchio::constraintDynamics(model, data, q, v, tau, loops, datas, exact);
    }
    std::cout << (now() - start) / static_cast<double>(repeats) << std::endl;
  }
}
