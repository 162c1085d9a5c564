// The approximate functions of the hardware, with our own results: the nearest f32 to a value that
// is accurate to about 2^-50. They are the same on every host (no function of the C library is
// used).
//
//     float y = sim_approx_ex2(0.5f);
#ifndef TILEC_SIM_MACHINE_NUMBER_APPROX_H
#define TILEC_SIM_MACHINE_NUMBER_APPROX_H

float sim_approx_ex2(float x);
float sim_approx_lg2(float x);
float sim_approx_sin(float x);
float sim_approx_cos(float x);
float sim_approx_tanh(float x);

#endif
