// Native cost of Pinocchio's algorithms on one model: the median over blocks of calls, in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>

template <class Job>
double microseconds(Job job) {
  using Clock = std::chrono::steady_clock;
  for (int k = 0; k < 200; ++k) job(k);
  std::vector<double> blocks;
  for (int b = 0; b < 60; ++b) {
    const auto start = Clock::now();
    for (int k = 0; k < 500; ++k) job(k);
    blocks.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 500);
  }
  std::nth_element(blocks.begin(), blocks.begin() + blocks.size() / 2, blocks.end());
  return blocks[blocks.size() / 2];
}

int main(int, char** argv) {
  pinocchio::Model model;
  pinocchio::serialization::loadFromXML(model, argv[1], "model");
  pinocchio::Data data(model);
  std::vector<Eigen::VectorXd> q, v, a;
  for (int k = 0; k < 64; ++k) {  // several states, so that nothing is learnt by heart
    Eigen::VectorXd lower = Eigen::VectorXd::Constant(model.nq, -1), upper = Eigen::VectorXd::Constant(model.nq, 1);
    q.push_back(pinocchio::randomConfiguration(model, lower, upper));
    v.push_back(Eigen::VectorXd::Random(model.nv));
    a.push_back(Eigen::VectorXd::Random(model.nv));
  }
  std::printf("rnea %.4f\n", microseconds([&](int k) { pinocchio::rnea(model, data, q[k % 64], v[k % 64], a[k % 64]); }));
  std::printf("aba %.4f\n", microseconds([&](int k) { pinocchio::aba(model, data, q[k % 64], v[k % 64], a[k % 64]); }));
  std::printf("crba %.4f\n", microseconds([&](int k) { pinocchio::crba(model, data, q[k % 64]); }));
}
