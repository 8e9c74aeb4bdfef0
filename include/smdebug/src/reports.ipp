// A part of <smdebug/src.hpp>: the bodies of scans of many runs, and reports.
#pragma once

#include <smdebug/batch/impl/row_spool.ipp>
#include <smdebug/batch/impl/run_batch.ipp>
#include <smdebug/batch/impl/run_list.ipp>
#include <smdebug/batch/impl/run_version.ipp>
#include <smdebug/batch/impl/scan_runs.ipp>
#include <smdebug/batch/search/impl/folder_names.ipp>
#include <smdebug/batch/search/impl/folder_walk.ipp>
#include <smdebug/batch/search/impl/key_walk.ipp>
#include <smdebug/batch/search/impl/name_pattern.ipp>
#include <smdebug/batch/search/impl/pattern_walk.ipp>
#include <smdebug/batch/search/impl/version_digest.ipp>
#include <smdebug/batch/search/impl/written_path.ipp>
#include <smdebug/report/impl/data_writer.ipp>
#include <smdebug/report/impl/distribution.ipp>
#include <smdebug/report/impl/page_text.ipp>
#include <smdebug/report/impl/reported_run.ipp>
#include <smdebug/report/impl/run_gatherer.ipp>
#include <smdebug/report/impl/run_series.ipp>
#include <smdebug/report/impl/step_axis.ipp>
#include <smdebug/report/impl/write_report.ipp>
#include <smdebug/report/page/impl/bundle.ipp>
