// A part of <smdebug/batch_src.hpp>: the bodies of databases of results.
#pragma once

#include <smdebug/batch/database/impl/canonical_rows.ipp>
#include <smdebug/batch/database/impl/done_runs.ipp>
#include <smdebug/batch/database/impl/run_rows.ipp>
#include <smdebug/batch/database/impl/schema.ipp>
#include <smdebug/batch/database/impl/sqlite.ipp>
#include <smdebug/batch/impl/merge_databases.ipp>
#include <smdebug/batch/impl/results_database.ipp>
