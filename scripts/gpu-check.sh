#!/usr/bin/env bash
# Shows what evenhand does on this machine's GPU, in one short run: see --help, and docs/gpu/README.md.
# Runs in a checkout after `npm ci`, and in the folder that gpu-pack.sh makes, which brings its own Node.
set -euo pipefail
# Without dirname, which a bare PATH may not have.
here=${BASH_SOURCE[0]%/*}
if [ "$here" = "${BASH_SOURCE[0]}" ]; then here=.; fi
here=$(cd "${here:-/}" && pwd)

if [ -x "$here/node" ]; then
  node=$here/node
elif node=$(command -v node); then
  :
else
  echo "gpu-check.sh: there is no Node on PATH (${PATH:-empty}). Install Node 20.19 or later, or make a folder that brings one" >&2
  echo "with scripts/gpu-pack.sh on another machine and copy it here." >&2
  exit 2
fi

if [ -f "$here/gpu-check.mjs" ]; then
  command=("$node" "$here/gpu-check.mjs")
  # The pack's Vulkan loader, and after the machine's own libraries what a bare machine may lack. Other programs that
  # are started get the machine's own path again.
  export EVENHAND_HOST_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
  machine=/usr/local/nvidia/lib64:/usr/local/nvidia/lib:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64
  export LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$machine:$here/lib/fallback"
elif [ -f "$here/../node_modules/tsx/dist/loader.mjs" ]; then
  command=("$node" --import "$here/../node_modules/tsx/dist/loader.mjs" "$here/gpu-check/main.ts")
else
  echo "gpu-check.sh: the packages are not installed. Run 'npm ci' in the checkout first." >&2
  exit 2
fi

# Whether the Vulkan loader finds NVIDIA's driver in the folders that it searches.
knows_nvidia() {
  local folder file
  for folder in /etc /usr/local/etc /usr/local/share /usr/share; do
    for file in "$folder"/vulkan/icd.d/*nvidia*.json; do
      [ -e "$file" ] && return 0
    done
  done
  return 1
}
# Where the driver was put elsewhere, as in containers, its manifest is named; where it has none, the pack's is.
if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && ! knows_nvidia; then
  if [ -e /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ]; then
    export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
  elif [ -e "$here/lib/nvidia_icd.json" ]; then
    for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu /usr/lib64; do
      if [ -e "$folder/libGLX_nvidia.so.0" ]; then
        export VK_DRIVER_FILES="$here/lib/nvidia_icd.json"
        break
      fi
    done
  fi
fi

# A device that hangs must not hang the check; what was found until then is in its JSON.
if command -v timeout >/dev/null; then
  command=(timeout --foreground -k 10 "${EVENHAND_GPU_CHECK_SECONDS:-570}" "${command[@]}")
fi
exec "${command[@]}" "$@"
