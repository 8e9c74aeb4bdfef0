// The parts of xtensor that the library uses, wherever the installed version keeps them: xtensor/xarray.hpp up to 0.25,
// xtensor/containers/xarray.hpp from 0.26 on.  The only header that includes xtensor, which is heavy to compile: who
// needs only bytes does not pay for it.
#pragma once

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xbuffer_adaptor.hpp>
#include <xtensor/core/xlayout.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#include <xtensor/xlayout.hpp>
#endif
