#!/usr/bin/env bash
# Creates a folder that checks evenhand on the GPU of a Linux machine without Node.js, npm or a network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

usage() {
  cat <<'END'
Usage: gpu-pack.sh [--out DIR] [--data DIR] [--level N]

Writes evenhand-gpu-VERSION-linux-x64.tar.xz, and prints its size. On the machine
with the GPU: tar -xf evenhand-gpu-*.tar.xz && evenhand-gpu-*/gpu-check.sh

  --out DIR    folder of the archive (the current folder)
  --data DIR   folder with adult.train.csv and adult.test.csv to include;
               without it only the parts doctor and numerics can run
  --level N    compression level of xz, 0 to 9 (9)

A pack supports WebGPU, wasm and cpu. The native backends, node and node-gpu,
need a checkout.

Needs the packages of the checkout (npm ci), and on Linux x64 bash, tar and xz;
libraries that are not installed are downloaded from Debian's packages with
apt-get.
END
}

out=$PWD data='' level=9
while [ $# -gt 0 ]; do
  case $1 in
    --out | --data | --level)
      if [ $# -lt 2 ]; then
        echo "gpu-pack.sh: $1 requires a value; see --help" >&2
        exit 2
      fi
      case $1 in
        --out) out=$2 ;;
        --data) data=$2 ;;
        *) level=$2 ;;
      esac
      shift 2
      ;;
    --help)
      usage
      exit 0
      ;;
    *)
      echo "gpu-pack.sh: unknown option '$1'; see --help" >&2
      exit 2
      ;;
  esac
done
if ! [[ $level =~ ^[0-9]$ ]]; then
  echo "gpu-pack.sh: --level must be a number from 0 to 9; got '$level'" >&2
  exit 2
fi
for table in adult.train.csv adult.test.csv; do
  if [ -n "$data" ] && [ ! -f "$data/$table" ]; then
    echo "gpu-pack.sh: $data/$table does not exist; --data must name a folder with adult.train.csv and adult.test.csv" >&2
    exit 2
  fi
done
if [ "$(uname -sm)" != 'Linux x86_64' ]; then
  echo "gpu-pack.sh: a pack contains this machine's Node.js, so it must be created on Linux x64; this is $(uname -sm)" >&2
  exit 2
fi
for program in node tar xz; do
  if ! command -v "$program" >/dev/null; then
    echo "gpu-pack.sh: $program is not installed; install it" >&2
    exit 2
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(node -p 'require(process.argv[1]).version' "$root/package.json")
name=evenhand-gpu-$version-linux-x64
pack=$work/$name
mkdir -p "$out" "$pack/lib/fallback" "$pack/licences"

# The program, its data and the licences of the packages in it.
node --import "$root/node_modules/tsx/dist/loader.mjs" "$here/gpu-check/pack.ts" "$pack" ${data:+"$data"}
cp "$here/gpu-check.sh" "$here/gpu-check/pytorch_sweep.py" "$root/docs/gpu/README.md" "$pack/"
cp "$root/LICENSE" "$pack/licences/evenhand.txt"
chmod 755 "$pack/gpu-check.sh"

# Removes debug symbols, unless the result fails the test.
slim() {
  local file=$1
  shift
  command -v strip >/dev/null || return 0
  strip -o "$file.slim" "$file" 2>/dev/null || return 0
  mv "$file" "$file.whole"
  mv "$file.slim" "$file"
  if "$@" >/dev/null 2>&1; then rm "$file.whole"; else mv "$file.whole" "$file"; fi
}
cp -L "$(node -p process.execPath)" "$pack/node"
chmod 755 "$pack/node"
slim "$pack/node" "$pack/node" -e 'new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))'
dawn=$pack/node_modules/webgpu/dist/linux-x64/dawn.node
slim "$dawn" "$pack/node" -e 'require(process.argv[1]).create([])' "$dawn"
for licence in "$(dirname "$(dirname "$(node -p process.execPath)")")/LICENSE" /usr/share/doc/nodejs/LICENSE; do
  if [ -f "$licence" ]; then cp "$licence" "$pack/licences/node.txt"; fi
done
if [ ! -f "$pack/licences/node.txt" ]; then
  echo "gpu-pack.sh: the LICENSE of Node.js was not found next to $(node -p process.execPath) or in /usr/share/doc/nodejs" >&2
  exit 1
fi

# Read at once: a program whose output pipe closes early ends by a signal, and this script with it.
libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
# Copies a library with its licence into a folder: from this machine, or from Debian's package.
take_library() {
  local library=$1 package=$2 folder=$3 found
  found=$(awk -v name="$library" '$1 == name && /x86-64/ { print $NF; exit }' <<<"$libraries")
  local licence=/usr/share/doc/$package/copyright
  if [ -z "$found" ] || [ ! -f "$licence" ]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
      echo "gpu-pack.sh: $library of the package $package is not installed, and apt-get is not available to download it; install it" >&2
      exit 1
    fi
    mkdir -p "$work/debian/$package"
    (cd "$work/debian/$package" && apt-get download -qq "$package" >/dev/null && dpkg-deb -x ./*.deb .)
    found=$(find "$work/debian/$package" -name "$library" -print -quit)
    if [ -z "$found" ]; then
      echo "gpu-pack.sh: Debian's package $package does not contain $library; install the library and try again" >&2
      exit 1
    fi
    licence=$work/debian/$package/usr/share/doc/$package/copyright
  fi
  cp -L "$found" "$folder/$library"
  cp -L "$licence" "$pack/licences/$package.txt"
}
# The Vulkan loader, which only needs glibc.
take_library libvulkan.so.1 libvulkan1 "$pack/lib"
# Libraries that NVIDIA's driver and Node.js need and a minimal machine may lack.
while read -r library package; do
  take_library "$library" "$package" "$pack/lib/fallback"
done <<'END'
libEGL.so.1 libegl1
libGLdispatch.so.0 libglvnd0
libX11.so.6 libx11-6
libXext.so.6 libxext6
libxcb.so.1 libxcb1
libXau.so.6 libxau6
libXdmcp.so.6 libxdmcp6
libbsd.so.0 libbsd0
libmd.so.0 libmd0
libstdc++.so.6 libstdc++6
libgcc_s.so.1 libgcc-s1
END
cat >"$pack/lib/nvidia_icd.json" <<'END'
{ "file_format_version": "1.0.0", "ICD": { "library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0" } }
END

archive=$out/$name.tar.xz
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime='@1700000000' --directory "$work" "$name" |
  xz -T0 "-$level" >"$work/archive"
mv "$work/archive" "$archive"
echo "$archive"
du -b "$archive" | awk '{ printf "archive  %6.1f MiB\n", $1 / 1048576 }'
du -sb "$pack" | awk '{ printf "folder   %6.1f MiB, of which\n", $1 / 1048576 }'
(cd "$pack" && du -sb -- * | sort -rn | awk '{ printf "%15.2f MiB  %s\n", $1 / 1048576, $2 }')
