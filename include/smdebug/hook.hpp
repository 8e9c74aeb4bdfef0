// Writing a run from a training loop: the hook alone, for numbers, spans, vectors, matrices, and whatever has a
// tensor_adapter.  Needs no xtensor; <smdebug/xtensor.hpp> adds its expressions.
#pragma once

#include <smdebug/hook/hook.hpp>
