#!/usr/bin/env bash
# Runs the most difficult cases found by new users in four roles and by hostile clients. Checks that each one gives the
# correct number, or an error with a suggestion. Needs only `npm ci`; takes about 20 seconds.
# Usage: scripts/trials.sh [ROLE]   with ROLE one of scientist, gate, platform, auditor (default: all)
# Exit codes: 0 all cases are right, 1 at least one is wrong, 2 usage error.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
role=${1:-all}
case "$role" in
  all | scientist | gate | platform | auditor) ;;
  -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
  *) echo "ROLE must be one of scientist, gate, platform, auditor; got '$role'" >&2; exit 2 ;;
esac
[ -f "$here/dist/cli/main.js" ] || { echo "There is no build in $here/dist. Run 'npm ci' first." >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
export EVENHAND_TF_BACKEND=wasm
evenhand() { node "$here/dist/cli/main.js" "$@"; }

wrong=0
right=0
# check TITLE CODE PATTERN COMMAND...: checks that the command exits with CODE and its output matches PATTERN.
check() {
  local title=$1 code=$2 pattern=$3 output got
  shift 3
  output=$("$@" 2>&1 </dev/null)
  got=$?
  if [ "$got" = "$code" ] && grep -qE -- "$pattern" <<<"$output"; then
    right=$((right + 1))
    echo "ok     $title"
  else
    wrong=$((wrong + 1))
    printf 'WRONG  %s\n       expected exit code %s and /%s/, got exit code %s and:\n' "$title" "$code" "$pattern" "$got"
    sed 's/^/       | /' <<<"$output" | head -20
  fi
}
asked() { [ "$role" = all ] || [ "$role" = "$1" ]; }
# program TEXT: runs a module that imports the built package from `$here/dist`.
program() { sed "s#evenhand:#file://$here/dist/#g" <<<"$1" >"$folder/program.mjs" && node "$folder/program.mjs"; }
# rows HEADER ROW COUNT [ROW COUNT ...]: prints a CSV file with each row COUNT times.
rows() {
  echo "$1"
  shift
  while [ $# -gt 0 ]; do
    for _ in $(seq "$2"); do echo "$1"; done
    shift 2
  done
}

if asked scientist; then
  echo '# A data scientist who is new to the package'
  check 'a mistyped option is rejected with a suggestion' 0 "differenceBound" program "
    import { ReductionsWrapper } from 'evenhand:index.js';
    try { new ReductionsWrapper({ diffBound: 0.1 }); } catch (error) { console.log(error.message, error.suggestion ?? ''); }"
  rows 'decision,sex' yes,f 40 YES,f 20 no,f 40 yes,m 60 NO,m 40 >spelled.csv
  check 'labels that differ only by case are listed, not silently counted' 0 "'?YES'?" \
    evenhand validate --csv spelled.csv --y-pred decision --sensitive sex --positive-label yes
  rows 'decision,sex' yes,f 50 no,f 40 maybe,f 10 yes,m 60 no,m 40 >three.csv
  check 'a third label needs --positive-label' 2 '--positive-label' \
    evenhand validate --csv three.csv --y-pred decision --sensitive sex
  rows 'decision,sex' yes,f 50 no,f 40 NA,f 10 yes,m 60 no,m 40 >missing.csv
  check 'NA is a missing decision, not a negative one' 0 '"NA": 10' \
    evenhand validate --csv missing.csv --y-pred decision --sensitive sex --positive-label yes --json
  rows 'truth,decision,sex' True,1,f 50 False,-1,f 50 True,-1,m 50 False,-1,m 50 >mixed.csv
  check 'True and False together with 1 and -1 are read with a label for each' 0 'equalized_odds_difference' \
    evenhand validate --csv mixed.csv --y-true truth --y-pred decision --sensitive sex --positive-label 1 --y-true-positive-label True --json
  rows 'truth,decision,sex' 1,1,f 50 -1,0,f 50 1,0,m 50 -1,0,m 50 >signed.csv
  check 'true labels of -1 and 1 are rejected with a message about that column' 2 "'truth'.*--positive-label|--positive-label.*'truth'" \
    evenhand validate --csv signed.csv --y-true truth --y-pred decision --sensitive sex
  evenhand sample-data cps-wages --out wages.csv >sample.log 2>&1
  job=(--csv wages.csv --target wage_above_median --sensitive gender --features education,experience,union)
  check 'reductions support folds' 0 '"folds": 3' evenhand train-reductions "${job[@]}" --T 5 --folds 3 --json --quiet
  check 'the useful etas are found' 0 '"eta": 0,' evenhand train-regularized "${job[@]}" --epochs 2 --etas auto --json --quiet
  evenhand train-lagrangian "${job[@]}" --epochs 2 --save-model model >train.log 2>&1
  check 'a saved model predicts' 0 'rows' evenhand predict --model model --csv wages.csv --out-csv scored.csv
  program "
    import { readFileSync, writeFileSync } from 'node:fs';
    const weights = readFileSync('model/weights.bin');
    weights[7] ^= 0x40;
    writeFileSync('model/weights.bin', weights);"
  check 'a flipped bit in its weights is detected' 2 'weights.bin' evenhand predict --model model --csv wages.csv --out-csv again.csv
fi

if asked gate; then
  echo '# A gate in continuous integration'
  rows 'approved,sex' 1,f 50 0,f 50 1,m 62 0,m 38 >decisions.csv
  validate=(evenhand validate --csv decisions.csv --y-pred approved --sensitive sex)
  check 'a threshold of 5, meant as 5%, is rejected' 2 '0\.05' "${validate[@]}" --metric demographic_parity_difference --threshold 5
  check 'two metrics are both checked: one fails' 1 'demographic_parity_ratio' "${validate[@]}" \
    --metric 'demographic_parity_difference<=0.2' --metric 'demographic_parity_ratio>=0.9'
  check 'two metrics are both checked: both pass' 0 'PASS' "${validate[@]}" \
    --metric 'demographic_parity_difference<=0.2' --metric 'demographic_parity_ratio>=0.8'
  rows 'approved,sex,region' 1,f,n 25 0,f,n 25 1,f,s 25 0,f,s 25 1,m,n 31 0,m,n 19 1,m,s 31 0,m,s 19 >regions.csv
  regions=(evenhand validate --csv regions.csv --y-pred approved --sensitive sex --sensitive region)
  echo '[{ metric: demographic_parity_difference, threshold: 0.05, attributes: [region] }, { metric: demographic_parity_ratio, threshold: 0.8, attributes: [sex] }]' >gates.yml
  check 'gates of a file apply to their attributes: both pass' 0 'PASS' "${regions[@]}" --gate gates.yml --junit pass.xml
  check 'and together with a stricter gate of --metric one fails' 1 'FAIL' "${regions[@]}" --gate gates.yml \
    --metric 'demographic_parity_difference<=0.1' --junit fail.xml
  check 'the test report of a failed run has the failure' 0 'tests="4" failures="1" errors="0"' cat fail.xml
  check 'an undefined metric is an error in the test report, never a pass' 1 'undefined' "${regions[@]}" --gate gates.yml --min-group-size 500 --junit undefined.xml
  check 'with an error for each gate' 0 'tests="2" failures="0" errors="2"' cat undefined.xml
  sed 's/threshold: 0.05/threshold: 5/' gates.yml >percent.yml
  check 'a threshold of 5 in a file is rejected with its line and column' 2 'percent\.yml:1:[0-9]+: gates\[0\]\.threshold.*0\.05' "${regions[@]}" --gate percent.yml
  sed 's/region\]/regoin]/' gates.yml >attribute.yml
  check 'a mistyped attribute in a file is rejected, not ignored' 2 "Did you mean 'region'" "${regions[@]}" --gate attribute.yml
  echo '# none yet' >empty.yml
  check 'an empty file of gates does not pass' 2 'empty' "${regions[@]}" --gate empty.yml
  check 'a test report without a gate is rejected, since it would look like a pass' 2 'no gate|there is none' "${regions[@]}" --junit none.xml
  check 'an option that cannot be repeated is rejected if it is' 2 'given twice' "${validate[@]}" --seed 1 --seed 2
  rows 'approved,sex' ,f 50 0,f 50 0,m 100 >holes.csv
  holes=(evenhand validate --csv holes.csv --y-pred approved --sensitive sex --metric demographic_parity_difference --threshold 0.1)
  check 'missing decisions of one group do not pass without a warning' 0 '[Ww]arning' "${holes[@]}"
  check 'and fail under --strict-missing' 1 'FAIL' "${holes[@]}" --strict-missing
  echo '[{ metric: demographic_parity_difference, threshold: 0.1 }]' >one.yml
  check 'also with a file of gates' 1 'strict missing' \
    evenhand validate --csv holes.csv --y-pred approved --sensitive sex --strict-missing --gate one.yml
  {
    echo 'approved,group'
    for _ in $(seq 400); do printf '1,9007199254740992\n0,9007199254740993\n'; done
  } >long.csv
  check 'group codes above 2^53 are not merged' 1 'breach|alarm' evenhand monitor --csv long.csv --y-pred approved --sensitive group
  printf 'approved,sex\n1,\xe9\n0,\xe8\n' >latin.csv
  check 'a file that is not UTF-8 is rejected' 2 'UTF-8' evenhand validate --csv latin.csv --y-pred approved --sensitive sex
  printf '{"approved":1,"sex":"\xe9"}\n' >latin.ndjson
  check 'a stream of such lines is rejected too' 2 'UTF-8' bash -c "node '$here/dist/cli/main.js' monitor --y-pred approved --sensitive sex <latin.ndjson"
  rows 'score,y,g' '0.9,1,=1+1' 40 '0.2,0,=1+1' 40 '0.8,1,b' 40 '0.1,0,b' 40 >formula.csv
  evenhand calibrate --csv formula.csv --out-csv calibrated.csv >calibrate.log 2>&1
  check 'a label that begins with = is not a formula in a CSV file' 0 "'=1\+1" cat calibrated.csv
fi

if asked platform; then
  echo '# A platform team, and hostile clients'
  cat >clients.mjs <<'CLIENTS'
import { spawn } from 'node:child_process';
import { connect } from 'node:net';

const service = spawn(process.execPath, [process.argv[2], 'serve', '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
const { port } = JSON.parse(await new Promise((resolve) => service.stdout.once('data', (line) => resolve(String(line)))));
const post = async (body) => {
  const response = await fetch(`http://127.0.0.1:${port}/validate`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return `${response.status} ${await response.text()}`;
};
const say = (title, answer) => console.log(`${title}: ${answer.replaceAll('\n', ' ').slice(0, 300)}`);
try {
  say('not UTF-8', await post(Buffer.from('{"y_pred":[1,0],"sensitive":["\xe9","\xe8"],"min_group_size":1}', 'latin1')));
  say('a key twice', await post('{"y_pred":[1,0],"sensitive":["a","b"],"min_group_size":1,"metric":"demographic_parity_difference","threshold":0.1,"threshold":1}'));
  say('long codes', await post('{"y_pred":[1,0],"sensitive":[9007199254740992,9007199254740993],"min_group_size":1}'));
  say('threshold 5', await post('{"y_pred":[1,0],"sensitive":["a","b"],"min_group_size":1,"metric":"demographic_parity_difference","threshold":5}'));
  say('no Host', await new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'));
    socket.on('data', (data) => (text += data));
    socket.on('close', () => resolve(text.replace('HTTP/1.1 ', '')));
  }));
} finally {
  service.kill('SIGTERM');
}
CLIENTS
  node clients.mjs "$here/dist/cli/main.js" >answers.txt 2>&1
  check 'a body that is not UTF-8 is 400' 0 'not UTF-8: 400 ' cat answers.txt
  check 'a body with a duplicate key is 400' 0 'a key twice: 400 ' cat answers.txt
  check 'group codes that lose digits as numbers are 400' 0 'long codes: 400 ' cat answers.txt
  check 'a threshold of 5 is 422' 0 'threshold 5: 422 ' cat answers.txt
  check 'a request without a Host header is 400, with a body' 0 'no Host: 400 .*[{]' cat answers.txt
fi

if asked auditor; then
  echo '# An auditor of a language model'
  check 'a decision is the value after its label' 0 '^no no no no no no$' program "
    import { readDecision } from 'evenhand:llm-evals/scoring/read-decision.js';
    const answers = ['Hire: No', 'Approved: No', '{\"hire\": false}', '{\"approved\": false}', 'Loan approval: denied', 'Hire (yes/no): no'];
    console.log(answers.map((text) => ['no', 'yes'][readDecision(text) ?? 2] ?? 'unread').join(' '));"
  check 'common refusals are detected' 0 '^4$' program "
    import { classifyRefusal } from 'evenhand:llm-evals/index.js';
    const answers = ['I can\\'t carry out that request.', 'I cannot examine this for you.', 'I cannot execute this instruction.', 'Das kann ich leider nicht tun.'];
    console.log(answers.filter((text) => classifyRefusal(text).label === 'full').length);"
  cat >one.yml <<'YAML'
provider: local
evaluators: [counterfactual]
counterfactual:
  template: Advise a {gender} on a loan.
  dimensions:
    gender: [woman, man]
YAML
  check 'a dry run of one template reports that no effect can be shown' 0 'undefined' evenhand llm-eval --config one.yml --dry-run
  sed 's/gender/name/; s/{gender}/{name}/; s/woman, man/Anna, Paul/' one.yml >name.yml
  check 'without pools, name is a dimension like any other' 0 'name' evenhand llm-eval --config name.yml --dry-run
fi

echo "$((right + wrong)) cases: $right right, $wrong wrong"
[ "$wrong" = 0 ]
