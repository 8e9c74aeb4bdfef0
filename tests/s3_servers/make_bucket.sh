#!/usr/bin/env bash
# make_bucket.sh NAME: makes a bucket, unless it exists, on the server that the environment names (with_server.sh).
set -euo pipefail
encoded() {  # percent-encodes characters with a meaning in a URL's user and password
    local text=$1
    text=${text//%/%25} text=${text//:/%3A} text=${text//\//%2F} text=${text//+/%2B}
    echo "${text//@/%40}"
}
host=${AWS_ENDPOINT_URL_S3#http://}
# Not by --user: an id may hold ':'.
answer=$(curl -sS --noproxy '*' -m 60 --aws-sigv4 "aws:amz:$AWS_REGION:s3" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \
    -X PUT -w '\n%{http_code}' "http://$(encoded "$AWS_ACCESS_KEY_ID"):$(encoded "$AWS_SECRET_ACCESS_KEY")@$host/$1")
[[ $answer == *$'\n200' || $answer == *BucketAlreadyOwnedByYou*$'\n409' ]] || {
    echo "no bucket $1: $answer" >&2
    exit 1
}
