// libtorch: hooks take torch::Tensor, and torch_watch saves a module's weights, biases and gradients; in one include.
// Needs the user's own libtorch, 1.13 or 2.x (smdebug::torch in CMake).  Nothing here is compiled into a library: in
// both forms it is built with the program that includes it.
#pragma once

#include <smdebug/torch/tensor.hpp>
#include <smdebug/torch/watch.hpp>
