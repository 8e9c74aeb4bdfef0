// What all test programs of a build with SMDEBUG_PRECOMPILE=ON begin with: all of the library, parsed once.
#pragma once

#include "support/test.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/exporting/run.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/s3.hpp>
#include <smdebug/smdebug.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/watch/watch.hpp>
