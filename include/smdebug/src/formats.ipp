// A part of <smdebug/src.hpp>: the bodies of data of other tools.
#pragma once

#include <smdebug/formats/checkpoints/impl/checkpoint_source.ipp>
#include <smdebug/formats/checkpoints/impl/distributed.ipp>
#include <smdebug/formats/checkpoints/impl/find_checkpoints.ipp>
#include <smdebug/formats/checkpoints/impl/joined_object.ipp>
#include <smdebug/formats/checkpoints/impl/npz_directory.ipp>
#include <smdebug/formats/checkpoints/impl/pickle.ipp>
#include <smdebug/formats/checkpoints/impl/safetensors_header.ipp>
#include <smdebug/formats/checkpoints/impl/torch_file.ipp>
#include <smdebug/formats/checkpoints/impl/torch_tree.ipp>
#include <smdebug/formats/impl/event_file_source.ipp>
#include <smdebug/formats/impl/open_data.ipp>
#include <smdebug/formats/impl/opened.ipp>
#include <smdebug/formats/impl/record_file.ipp>
#include <smdebug/formats/tensorboard/impl/log_files.ipp>
#include <smdebug/formats/tensorboard/impl/log_source.ipp>
