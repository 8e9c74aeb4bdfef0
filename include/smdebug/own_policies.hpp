// For files that compose trials or hooks of storages, decoders or kernels of their own, in the compiled form: the
// bodies of the templates that the library instantiates for its own policies only.  Header-only it changes nothing.
// Used by: users.
#pragma once

#include <smdebug/hook/hook.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#ifdef SMDEBUG_COMPILED
#include <smdebug/hook/impl/background_sink.tpp>
#include <smdebug/hook/impl/basic_hook.tpp>
#include <smdebug/hook/impl/earlier_run.tpp>
#include <smdebug/hook/impl/file_sink.tpp>
#include <smdebug/hook/impl/hook_core.tpp>
#include <smdebug/hook/impl/place_opener.tpp>
#include <smdebug/hook/impl/run_claim.tpp>
#include <smdebug/hook/impl/run_writer.tpp>
#include <smdebug/hook/impl/save_arguments.tpp>
#include <smdebug/s3/impl/bounded_calls.tpp>
#include <smdebug/s3/impl/call_window.tpp>
#include <smdebug/s3/impl/client.tpp>
#include <smdebug/s3/impl/default_credentials.tpp>
#include <smdebug/s3/impl/instance_keys.tpp>
#include <smdebug/s3/impl/multipart_upload.tpp>
#include <smdebug/s3/impl/object_reader.tpp>
#include <smdebug/s3/impl/s3_credentials.tpp>
#include <smdebug/s3/impl/s3_output.tpp>
#include <smdebug/s3/impl/s3_storage.tpp>
#include <smdebug/trial/impl/basic_trial.tpp>
#include <smdebug/trial/impl/index_listing.tpp>
#include <smdebug/trial/impl/loader.tpp>
#include <smdebug/trial/impl/opening.tpp>
#include <smdebug/trial/impl/step_wait.tpp>
#include <smdebug/trial/impl/tensor_handle.tpp>
#include <smdebug/trial/impl/tensor_reader.tpp>
#include <smdebug/trial/impl/trial_state.tpp>
#endif
