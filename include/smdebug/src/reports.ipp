// A part of <smdebug/src.hpp>: the bodies of scans of many runs, and reports.
#pragma once

#include <smdebug/batch/impl/row_spool.ipp>
#include <smdebug/batch/impl/run_batch.ipp>
#include <smdebug/batch/search/impl/folder_walk.ipp>
#include <smdebug/batch/search/impl/name_pattern.ipp>
#include <smdebug/learn/impl/learn.ipp>
#include <smdebug/report/impl/page_text.ipp>
#include <smdebug/report/impl/run_series.ipp>
#include <smdebug/report/impl/write_report.ipp>
#include <smdebug/report/page/impl/bundle.ipp>
