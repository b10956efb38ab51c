// Native cost of MuJoCo's functions on one model, without contacts and constraints.
//
//   mujoco MODEL.mjb STATES.bin BODY
//
// STATES.bin holds rows of doubles: qpos, qvel, qacc. The program stays alive; for each line "job repeats" on its input
// it runs the job that often, over the states in turn, and prints the microseconds of processor time per run. A job does
// what is needed from the state on and nothing else; `forward` and `inverse` are MuJoCo's own pipelines.
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static mjModel* m;
static mjData* d;
static mjtNum *result, *jacobian;
static int body;

static void position(void) {
  mj_kinematics(m, d);
  mj_comPos(m, d);
}

static void mass_matrix(void) {
  position();
  mj_makeM(m, d);
}

static void inverse_lean(void) {
  position();
  mj_comVel(m, d);
  mj_rne(m, d, 1, result);
}

static void factor_solve(void) {
  mj_factorM(m, d);
  mj_solveM(m, d, result, d->qacc, 1);
}

static void forward_lean(void) {
  mass_matrix();
  mj_factorM(m, d);
  mj_comVel(m, d);
  mj_rne(m, d, 0, d->qfrc_bias);
  mju_sub(d->qfrc_smooth, d->qfrc_applied, d->qfrc_bias, (int)m->nv);
  mj_solveM(m, d, result, d->qfrc_smooth, 1);
}

static void frame_jacobian(void) {
  position();
  mj_jac(m, d, jacobian, jacobian + 3 * m->nv, d->xpos + 3 * body, body);
}

static void forward(void) { mj_forward(m, d); }
static void inverse(void) { mj_inverse(m, d); }

static const struct {
  const char* name;
  void (*run)(void);
} jobs[] = {
    {"forward", forward},     {"inverse", inverse},           {"forward_lean", forward_lean}, {"inverse_lean", inverse_lean},
    {"mass_matrix", mass_matrix}, {"factor_solve", factor_solve}, {"jacobian", frame_jacobian},
};

static double now(void) {  // of this thread: what others run in between does not count
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

int main(int count, char** arguments) {
  if (count != 4 || !(m = mj_loadModel(arguments[1], NULL)) || !(d = mj_makeData(m))) return 2;
  body = atoi(arguments[3]);
  const size_t row = (size_t)(m->nq + 2 * m->nv), bytes = row * sizeof(mjtNum);
  result = malloc(sizeof(mjtNum) * (size_t)m->nv);
  jacobian = malloc(6 * sizeof(mjtNum) * (size_t)m->nv);
  FILE* file = fopen(arguments[2], "rb");
  mjtNum* states = NULL;
  size_t rows = 0;
  for (;;) {
    states = realloc(states, (rows + 1) * bytes);
    if (!file || fread(states + rows * row, bytes, 1, file) != 1) break;
    ++rows;
  }
  if (rows == 0) return 3;
  memcpy(d->qpos, states, sizeof(mjtNum) * (size_t)m->nq);
  mj_forward(m, d);  // fills the matrix that is factorised

  char name[64];
  long repeats;
  while (scanf("%63s %ld", name, &repeats) == 2) {
    size_t j = 0;
    while (j < sizeof jobs / sizeof *jobs && strcmp(name, jobs[j].name)) ++j;
    if (j == sizeof jobs / sizeof *jobs) return 4;
    double spent = 0;
    for (long k = 0; k < repeats;) {  // states are set outside the clock, eight runs for each
      const mjtNum* s = states + (size_t)(k / 8) % rows * row;
      memcpy(d->qpos, s, sizeof(mjtNum) * (size_t)m->nq);
      memcpy(d->qvel, s + m->nq, sizeof(mjtNum) * (size_t)m->nv);
      memcpy(d->qacc, s + m->nq + m->nv, sizeof(mjtNum) * (size_t)m->nv);
      memcpy(d->qfrc_applied, d->qacc, sizeof(mjtNum) * (size_t)m->nv);
      const double start = now();
      for (const long end = k + 8 < repeats ? k + 8 : repeats; k < end; ++k) {
        jobs[j].run();
      }
      spent += now() - start;
    }
    printf("%.6f\n", spent / (double)repeats);
    fflush(stdout);
  }
  return 0;
}
