// The environment variables that the program reads, for its manual.
#pragma once

#include <array>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

/// Variables that belong together, and what they are for.
struct environment_entry {
    std::string_view names;  ///< with ", " between them
    std::string_view meaning;
};

inline constexpr std::array<environment_entry, 15> environment_list{
    {{"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
      "for s3://: the keys; they come before all others"},
     {"AWS_PROFILE, AWS_DEFAULT_PROFILE",
      "for s3://: the profile in the files with keys and settings; default: default"},
     {"AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE",
      "for s3://: these files; default: ~/.aws/credentials and ~/.aws/config"},
     {"AWS_REGION, AWS_DEFAULT_REGION", "for s3://: the region"},
     {"AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL", "for s3://: the server; --endpoint-url comes before them"},
     {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "for s3://: true: only --endpoint-url names a server"},
     {"AWS_CA_BUNDLE", "for s3://: a file with the certificates that servers are trusted by"},
     {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_CREDENTIALS_FULL_URI, "
      "AWS_CONTAINER_AUTHORIZATION_TOKEN, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "for s3://: where a container is given its keys"},
     {"AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
      "for s3://: whether, and where, keys of the machine are looked up"},
     {"http_proxy, https_proxy, all_proxy, no_proxy", "for s3:// and --post: proxies, and servers to ask without them"},
     {"SMDEBUG_CACHE_DIR",
      "where --cache is not given: the folder that keeps what was read of s3://, and indexes of archives"},
     {"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, SMDEBUG_TRAINING_END_DELAY_REFRESH, SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT",
      "how long is waited for what is still being written, as the Python package has it"},
     {"SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN, SLURM_ARRAY_TASK_STEP, "
      "AWS_BATCH_JOB_ARRAY_INDEX, AWS_BATCH_JOB_ARRAY_SIZE",
      "with --shard array: which part of the runs is this job's"},
     {"SMDEBUG_CONFIG, XDG_CONFIG_HOME",
      "the file of defaults of options, and the folder in which smdebug/config.toml is that file; default: ~/.config"},
     {"COLUMNS", "how wide tables on a terminal are; --width comes before it"}}};

}  // namespace smdebug::inline v1::cli::detail
