#!/usr/bin/env bash
# Starts an independent S3 server, on 127.0.0.1 only, for tests and benchmarks.
#   start_s3.sh [--sts] [--lifetime SECONDS] rgw|swift PORT FOLDER
#   start_s3.sh --stop FOLDER
#
#   rgw      Ceph's RADOS gateway, one monitor and one storage daemon that keeps everything in memory
#   swift    OpenStack Swift with s3api, an independent implementation that keeps files in FOLDER
#   PORT     0: a free one
#   FOLDER   is new, empty, or from this script: then its server is stopped and its content removed.  Its path
#            must not contain white space.
#   --sts    rgw only: also creates temporary credentials.  A wrong secret is then answered AccessDenied.
#   --lifetime SECONDS   after so long the server ends by itself (default: 1800), unless stopped before
#
# Returns when the server answers, and prints the id of a supervising process: ending that (SIGTERM) ends everything.
# FOLDER/s3.env has, as shell assignments: S3_SERVER, S3_PID, S3_ENDPOINT, AWS_ACCESS_KEY_ID,
# AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION; with --sts also S3_TEMP_ACCESS_KEY_ID, S3_TEMP_SECRET_ACCESS_KEY,
# S3_TEMP_SESSION_TOKEN.  The keys are made up and valid only here.  Objects are lost at the end.
#
# Exit status: 0 running; 2 usage; 4 port or folder not usable; 5 the start failed; 77 a program or a feature of the
# file system is missing (FOLDER/skipped says which): this script installs nothing, cmake/setup.sh names the packages.
# shellcheck disable=SC2015,SC2317  # `A && B || fail` where B cannot fail halfway; functions that await and traps call
set -u -o pipefail
umask 077

# The secret contains '/', '+' and '=', as real ones do.
access_key=FAKEACCESSKEY0000001
secret_key=fakesecretkey/for+tests+only=0000000001
swift_account=test swift_user=tester
region=us-east-1
limit_s=240  # for the whole start: other work may occupy the processors

say() { printf 'start_s3.sh: %s\n' "$*" >&2; }
die() {
    local status=$1
    shift
    say "$*"
    exit "$status"
}
usage() {
    sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
}

mode=start sts=no lifetime=1800 words=()
while (($# > 0)); do
    case $1 in
        --sts) sts=yes ;;
        --lifetime)
            (($# >= 2)) || usage
            lifetime=$2
            shift
            ;;
        --stop) mode=stop ;;
        --supervise) mode=supervise ;;  # internal: the supervising process
        -*) usage ;;
        *) words+=("$1") ;;
    esac
    shift
done

# --- stopping --------------------------------------------------------------------------------------------------------

# The id of FOLDER's supervisor, if that process exists and belongs to that folder.
supervisor_of() {
    local id
    id=$(cat "$1/supervisor.pid" 2>/dev/null) || return 1
    [[ -n $id ]] && tr '\0' '\n' 2>/dev/null <"/proc/$id/cmdline" | grep -qx -e --supervise || return 1
    tr '\0' '\n' 2>/dev/null <"/proc/$id/cmdline" | grep -qxF -e "$1" || return 1
    echo "$id"
}

stop_server() {
    local id
    id=$(supervisor_of "$1") || return 0
    kill "$id" 2>/dev/null
    for _ in {1..1200}; do
        kill -0 "$id" 2>/dev/null || return 0
        sleep 0.1
    done
    die 5 "process $id did not stop"
}

if [[ $mode == stop ]]; then
    ((${#words[@]} == 1)) || usage
    if [[ -d ${words[0]} ]]; then
        stop_server "$(cd "${words[0]}" && pwd)"
    fi
    exit 0
fi

((${#words[@]} == 3)) || usage
server=${words[0]} port=${words[1]} folder=${words[2]}
[[ $server == rgw || $server == swift ]] || die 2 "there is no server '$server': rgw, swift"
[[ $sts == no || $server == rgw ]] || die 2 "--sts is for rgw"
[[ $port =~ ^[0-9]{1,5}$ ]] && ((port <= 65535)) || die 2 "'$port' is no port"
[[ $lifetime =~ ^[0-9]{1,6}$ ]] && ((lifetime > 0)) || die 2 "'$lifetime' is no number of seconds"

is_busy() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_port() {  # a free port below those that the system hands out
    local candidate
    for _ in {1..200}; do
        candidate=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        [[ $candidate != "$port" ]] && ! is_busy $candidate && echo $candidate && return 0
    done
    return 1
}

# --- the supervisor: it starts the daemons, and ends them on request, when one of them ends, or when its
# time is over
# ----------------------------------------------------------------------------------------------------------
if [[ $mode == supervise ]]; then
    cd "$folder" || exit 4
    ids=() names=() stopping=no dead=

    spawn() {  # NAME COMMAND...: a daemon that ends with this process, however it ends
        local name=$1
        shift
        if command -v setpriv >/dev/null; then set -- setpriv --pdeathsig TERM "$@"; fi
        "$@" </dev/null >>"log/$name.out" 2>&1 &
        ids+=($!)
        names+=("$name")
    }
    stop_all() {
        local i
        [[ $stopping == no ]] || return 0
        stopping=yes
        rm -f ready s3.env
        for ((i = ${#ids[@]} - 1; i >= 0; --i)); do
            kill -TERM "${ids[i]}" 2>/dev/null || continue
            for _ in {1..50}; do
                kill -0 "${ids[i]}" 2>/dev/null || break
                sleep 0.1
            done
            kill -KILL "${ids[i]}" 2>/dev/null
        done
        wait 2>/dev/null
        rm -rf mon osd node cache  # keeps the logs
        rm -f supervisor.pid
    }
    trap 'stop_all; exit 0' TERM INT
    trap '' HUP
    fail() {
        echo "$*" >error
        stop_all
        exit 5
    }
    all_alive() {  # otherwise `dead` names one that is not
        local i
        for ((i = 0; i < ${#ids[@]}; ++i)); do
            kill -0 "${ids[i]}" 2>/dev/null || { dead=${names[i]} && return 1; }
        done
    }
    await() {  # WHAT COMMAND...: repeats the command until it succeeds
        local what=$1
        shift
        until "$@" >/dev/null 2>&1; do
            all_alive || fail "$dead ended before there was a $what: $(tail -n 3 "log/$dead.out" | tr '\n' ' ')"
            ((SECONDS < limit_s)) || fail "no $what within $limit_s s"
            sleep 0.1
        done
        all_alive || fail "$dead ended: $(tail -n 3 "log/$dead.out" | tr '\n' ' ')"
    }
    answers() { curl -s --noproxy '*' -o /dev/null -m 2 "http://127.0.0.1:$1/"; }

    spawn lifetime sleep "$lifetime"

    start_rgw() {
        local id new_port old_port address
        new_port=$(free_port) && old_port=$(free_port) && [[ $new_port != "$old_port" ]] || fail "no free ports"
        id=5ca1ab1e-0000-4000-8000-000000000001
        address="[v2:127.0.0.1:$new_port,v1:127.0.0.1:$old_port]"
        cat >ceph.conf <<EOF
[global]
fsid = $id
mon host = $address
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
ms bind port min = 10240
ms bind port max = 19999
# No keys between the daemons; radosgw's default mode "secure" hangs without them.
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
run dir = $folder/run
admin socket =
pid file =
log file = $folder/log/\$name.log
log max recent = 100
crash dir = $folder/log
keyring = $folder/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 2000
mon warn on insecure global id reclaim allowed = false
[mon]
mon data = $folder/mon
mon cluster log file = $folder/log/cluster.log
mon data avail crit = 1
mon data avail warn = 2
# The start changes the map many times, and by default each change waits a second.
paxos propose interval = 0.02
paxos min wait = 0.01
[osd]
osd data = $folder/osd
osd objectstore = memstore
memstore device bytes = 8589934592
# By default Debian 13's daemon looks for them under its working directory.
osd class dir = $(dirname "$(ls -d /usr/lib/*/rados-classes/libcls_rgw.so /usr/lib/rados-classes/libcls_rgw.so 2>/dev/null | head -n 1)")
osd class load list = *
osd class default list = *
[client.rgw.a]
# Without tcp_nodelay a small answer on a persistent connection takes 40 ms.
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw data = $folder/run
rgw dns name = localhost
rgw thread pool size = 64
rgw verify ssl = false
rgw s3 auth use sts = $([[ $sts == yes ]] && echo true || echo false)
rgw sts key = fakestskey012345
EOF
        export CEPH_CONF=$folder/ceph.conf
        unset CEPH_ARGS
        : >keyring
        mkdir -p mon osd
        {
            monmaptool --create --clobber --fsid "$id" --addv a "$address" monmap &&
                ceph-mon -i a --mkfs --monmap monmap
        } >log/setup.out 2>&1 || fail "no new monitor could be made: $(tail -n 1 log/setup.out)"
        spawn mon ceph-mon -i a -f
        await "monitor" timeout 10 ceph --connect-timeout 2 mon stat
        id=$(cat /proc/sys/kernel/random/uuid)
        {
            timeout 90 ceph osd new "$id" 0 && timeout 90 ceph-osd -i 0 --mkfs --osd-uuid "$id"
        } >>log/setup.out 2>&1 || fail "no new storage daemon could be made: $(tail -n 1 log/setup.out)"
        spawn osd ceph-osd -i 0 -f
        osd_is_up() { timeout 10 ceph osd stat | grep -q '1 up'; }
        await "storage daemon" osd_is_up
        timeout 90 radosgw-admin user create --uid=tester --display-name=tester --access-key="$access_key" \
            --secret="$secret_key" --caps="user-policy=*" >>log/setup.out 2>&1 || fail "radosgw-admin made no user"
        spawn rgw radosgw -n client.rgw.a -f
        await "gateway on port $port" answers "$port"
        key=$access_key
    }

    hand_out_temporary_key() {
        local answer
        ask() {  # SERVICE FIELD=VALUE...: a signed request with a form
            local service=$1 field form=()
            shift
            for field in "$@"; do form+=(--data-urlencode "$field"); done
            curl -s --noproxy '*' -m 20 --aws-sigv4 "aws:amz:$region:$service" --user "$key:$secret_key" "${form[@]}" \
                "http://127.0.0.1:$port/"
        }
        field() { sed -n "s|.*<$1>\([^<]*\)</$1>.*|\1|p" <<<"$answer" | head -n 1; }
        ask iam Action=PutUserPolicy UserName=tester PolicyName=session \
            'PolicyDocument={"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:GetSessionToken"],"Resource":["*"]}]}' >log/sts.out
        answer=$(ask sts Action=GetSessionToken DurationSeconds=43200)
        [[ -n $(field SessionToken) ]] || fail "no session token: $answer"
        temporary="S3_TEMP_ACCESS_KEY_ID='$(field AccessKeyId)'
S3_TEMP_SECRET_ACCESS_KEY='$(field SecretAccessKey)'
S3_TEMP_SESSION_TOKEN='$(field SessionToken)'"
    }

    start_swift() {
        local objects containers accounts memory common what kind me as_user=() rings=()
        objects=$(free_port) && containers=$(free_port) && accounts=$(free_port) && memory=$(free_port) ||
            fail "no free ports"
        me=$(id -un)
        mkdir -p etc node/d1 cache
        cat >etc/swift.conf <<EOF
[swift-hash]
swift_hash_path_suffix = fakesuffix
swift_hash_path_prefix = fakeprefix
[storage-policy:0]
name = gold
default = yes
EOF
        common="bind_ip = 127.0.0.1
user = $me
swift_dir = $folder/etc
devices = $folder/node
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
workers = 0
max_clients = 1024
log_level = ERROR
log_address = $folder/run/nolog"
        for what in object:$objects container:$containers account:$accounts; do
            kind=${what%%:*}
            cat >"etc/$kind-server.conf" <<EOF
[DEFAULT]
bind_port = ${what##*:}
$common
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
replication_server = false
recon_cache_path = $folder/cache
EOF
            (
                cd etc && swift-ring-builder "$kind.builder" create 4 1 1 &&
                    swift-ring-builder "$kind.builder" add "r1z1-127.0.0.1:${what##*:}/d1" 1 &&
                    swift-ring-builder "$kind.builder" rebalance 1
            ) >>"log/ring-$kind.out" 2>&1 &
            rings+=($!)
        done
        wait "${rings[@]}"
        for kind in object container account; do
            [[ -f etc/$kind.ring.gz ]] || fail "swift-ring-builder failed: $(tail -n 1 "log/ring-$kind.out")"
        done
        cat >etc/proxy-server.conf <<EOF
[DEFAULT]
bind_port = $port
$common
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth bulk copy slo dlo versioned_writes symlink proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$memory
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = $region
[filter:tempauth]
use = egg:swift#tempauth
user_${swift_account}_${swift_user} = $secret_key .admin
[filter:bulk]
use = egg:swift#bulk
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_versioned_writes = true
allow_object_versioning = true
[filter:symlink]
use = egg:swift#symlink
EOF
        if [[ $me == root ]]; then as_user=(-u root); fi
        spawn memcached memcached ${as_user[@]+"${as_user[@]}"} -l 127.0.0.1 -p "$memory" -U 0 -m 32
        for kind in account container object; do
            spawn "$kind" "swift-$kind-server" "etc/$kind-server.conf"
        done
        for what in "$memory" "$accounts" "$containers" "$objects"; do await "backend on port $what" is_busy "$what"; done
        spawn proxy swift-proxy-server etc/proxy-server.conf
        await "proxy on port $port" answers "$port"
        key=$swift_account:$swift_user  # the form of all tempauth keys
    }

    key='' temporary=''
    "start_$server"
    [[ $sts == no ]] || hand_out_temporary_key
    cat >s3.env.tmp <<EOF
S3_SERVER=$server
S3_PID=$$
S3_ENDPOINT=http://127.0.0.1:$port
AWS_ACCESS_KEY_ID=$key
AWS_SECRET_ACCESS_KEY='$secret_key'
AWS_DEFAULT_REGION=$region
$temporary
EOF
    mv s3.env.tmp s3.env
    : >ready
    while all_alive; do wait -n "${ids[@]}" 2>/dev/null; done
    [[ $dead == lifetime ]] || fail "$dead ended"
    echo "its time was over" >error
    stop_all
    exit 0
fi

# --- starting ----------------------------------------------------------------------------------------------------------
mkdir -p "$folder" 2>/dev/null && folder=$(cd "$folder" && pwd) && [[ -w $folder ]] || die 4 "cannot write to $folder"
[[ $folder != *[[:space:]]* ]] || die 4 "the path of the folder holds white space: $folder"
if [[ -f $folder/server ]]; then
    stop_server "$folder"
    rm -rf "${folder:?}"/*
elif [[ -n $(ls -A "$folder") ]]; then
    die 4 "$folder is not empty, and not from this script"
fi
echo "$server" >"$folder/server"
mkdir -p "$folder/log" "$folder/run"

skip() {
    echo "$*" >"$folder/skipped"
    die 77 "skipped: $*"
}
case $server in
    rgw)
        packages="ceph-mon ceph-osd ceph-common radosgw"
        programs=(ceph ceph-mon ceph-osd monmaptool radosgw radosgw-admin)
        ;;
    swift)
        packages="swift-proxy swift-account swift-container swift-object memcached"
        programs=(swift-proxy-server swift-account-server swift-container-server swift-object-server swift-ring-builder memcached)
        ;;
esac
for program in curl setsid "${programs[@]}"; do
    command -v "$program" >/dev/null ||
        skip "$program is not installed; Debian packages: curl $packages (tests/run.sh installs them)"
done
if [[ $server == swift ]]; then
    # Swift stores an object's metadata in attributes of its file.
    : >"$folder/probe"
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.probe", b"1")' \
        "$folder/probe" 2>/dev/null || skip "Swift needs a file system with user attributes, and that of $folder has none"
fi
if ((port == 0)); then
    port=$(free_port) || die 4 "no free port on 127.0.0.1"
elif is_busy "$port"; then
    die 4 "port $port of 127.0.0.1 is in use"
fi

options=(--lifetime "$lifetime")
[[ $sts == no ]] || options+=(--sts)
self=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$(basename "${BASH_SOURCE[0]}")
setsid bash "$self" --supervise "${options[@]}" "$server" "$port" "$folder" </dev/null >>"$folder/log/supervisor.out" 2>&1 &
id=$!
echo "$id" >"$folder/supervisor.pid"
trap 'kill "$id" 2>/dev/null; exit 5' INT TERM
until [[ -f $folder/ready ]]; do
    if ! kill -0 "$id" 2>/dev/null; then
        rm -f "$folder/supervisor.pid"
        die 5 "$server did not start: $(cat "$folder/error" 2>/dev/null || echo "see $folder/log")"
    fi
    sleep 0.05
done
trap - INT TERM
disown "$id"
echo "$id"
