#!/usr/bin/env bash
# with_server.sh FOLDER COMMAND...: runs COMMAND if the server that start_s3.sh started in FOLDER is running, with its
# endpoint and keys in the environment, and no AWS settings of the caller.  Exits 77 (skipped) if the start was skipped.
# The tests' own variables: SMDEBUG_S3_RGW or SMDEBUG_S3_SWIFT names FOLDER, so that a test knows which server it is.
set -euo pipefail
folder=$1
shift
if [[ -f $folder/skipped ]]; then
    echo "skipped: $(<"$folder/skipped")"
    exit 77
fi
if [[ ! -f $folder/ready ]]; then
    echo "no server runs on $folder: $(cat "$folder/error" 2>/dev/null || echo "none was started (start_s3.sh)")" >&2
    exit 1
fi
for name in $(compgen -e); do
    case $name in
        AWS_* | S3_* | *_proxy | *_PROXY | SMDEBUG_S3_* | SMDEBUG_CACHE_DIR) unset "$name" ;;
    esac
done
# shellcheck source=/dev/null
source "$folder/s3.env"
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_DEFAULT_REGION AWS_REGION=$AWS_DEFAULT_REGION
export AWS_ENDPOINT_URL_S3=$S3_ENDPOINT AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export "SMDEBUG_S3_${S3_SERVER^^}=$folder"
exec "$@"
