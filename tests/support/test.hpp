// What every test includes after the headers under test.
#pragma once

#include "support/standard.hpp"

#include <doctest/doctest.h>
