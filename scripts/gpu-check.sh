#!/usr/bin/env bash
# Checks evenhand on this machine's GPU in one short run: see --help, and docs/gpu/README.md.
# Runs in a checkout after `npm ci`, and in the folder that gpu-pack.sh creates, which contains Node.js.
set -euo pipefail
# Without dirname, which a minimal PATH may not have.
here=${BASH_SOURCE[0]%/*}
if [ "$here" = "${BASH_SOURCE[0]}" ]; then here=.; fi
here=$(cd "${here:-/}" && pwd)

if [ -x "$here/node" ]; then
  node=$here/node
elif node=$(command -v node); then
  :
else
  echo "gpu-check.sh: Node.js is not on PATH (${PATH:-empty}). Install Node.js 20.19 or later, or create a folder that contains it" >&2
  echo "with scripts/gpu-pack.sh on another machine and copy it here." >&2
  exit 2
fi

if [ -f "$here/gpu-check.mjs" ]; then
  command=("$node" "$here/gpu-check.mjs")
  # Adds the pack's Vulkan loader, and after the machine's own libraries those that a minimal machine may lack. Child
  # programs get the original path.
  export EVENHAND_HOST_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
  machine=/usr/local/nvidia/lib64:/usr/local/nvidia/lib:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib64:/lib64
  export LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$machine:$here/lib/fallback"
elif [ -f "$here/../node_modules/tsx/dist/loader.mjs" ]; then
  command=("$node" --import "$here/../node_modules/tsx/dist/loader.mjs" "$here/gpu-check/main.ts")
else
  echo "gpu-check.sh: the packages are not installed. Run 'npm ci' in the checkout first." >&2
  exit 2
fi

# Returns whether the Vulkan loader finds NVIDIA's driver in its search folders.
knows_nvidia() {
  local folder file
  for folder in /etc /usr/local/etc /usr/local/share /usr/share; do
    for file in "$folder"/vulkan/icd.d/*nvidia*.json; do
      [ -e "$file" ] && return 0
    done
  done
  return 1
}
# If the driver is in another place, as in containers, its manifest is set; if it has none, the pack's is used.
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

# A hanging device must not block the check; its JSON contains the results until then.
if command -v timeout >/dev/null; then
  command=(timeout --foreground -k 10 "${EVENHAND_GPU_CHECK_SECONDS:-570}" "${command[@]}")
fi

# --backend both checks each route to the GPU in a process of its own, with a JSON file for each.
is_both=
out=gpu-check.json
others=()
previous=
for argument in "$@"; do
  case "$previous $argument" in
    '--backend both' | *' --backend=both') is_both=1 ;;
    '--out '*) out=$argument ;;
    *' --out='*) out=${argument#--out=} ;;
    *' --backend' | *' --out') ;;
    '--backend '*) others+=(--backend "$argument") ;;
    *) others+=("$argument") ;;
  esac
  previous=$argument
done
if [ -z "$is_both" ]; then exec "${command[@]}" "$@"; fi
status=0
for route in webgpu node-gpu; do
  echo "== $route: ${out%.json}.$route.json"
  "${command[@]}" ${others[@]+"${others[@]}"} --backend "$route" --out "${out%.json}.$route.json" || status=$?
done
exit "$status"
