import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { acceptedRows, hasGaps, labelOf, SPELLINGS } from './facts.ts';
import type { Frame, Label } from './frames.ts';
import type { Peer } from './python.ts';
import {
  type FrameValues,
  type Gap,
  isRejection,
  type MeasureValues,
  type PeerValues,
  type Rejection,
} from './values.ts';

/** A number as peer.py writes it: null for NaN, text for infinity. */
type Written = number | null | string;

interface WrittenLevel {
  readonly level: readonly Label[];
  readonly overall: Written;
  readonly groups: readonly (readonly [readonly Label[], Written])[];
  readonly gaps: Readonly<Record<Gap, Written>>;
}

interface WrittenValues {
  readonly measures: Readonly<Record<string, readonly WrittenLevel[] | Rejection>>;
  readonly metrics: readonly (Written | Rejection)[];
}

interface Answer {
  readonly index: number;
  readonly raw: WrittenValues;
  readonly kept: WrittenValues | null;
}

/**
 * Returns a frame as peer.py reads it, with one spelling of each number. For version 0.14, an empty text is a missing
 * group too.
 */
export function peerRequest(frame: Frame, isOld: boolean): object {
  const { yTrue, yPred, sensitive, control, measures, metrics, ...rest } = frame;
  const columns = (features: Frame['sensitive']): [string, readonly Label[]][] =>
    Object.entries(features).map(([name, values]) => [
      name,
      values.map((value) => (isOld && value === '' ? null : (SPELLINGS.get(value) ?? value))),
    ]);
  const accepted = { measures: acceptedRows(frame, control), metrics: acceptedRows(frame, {}) };
  return {
    ...rest,
    y_true: yTrue,
    y_pred: yPred,
    sensitive: columns(sensitive),
    control: columns(control),
    measures,
    metrics,
    kept: isOld || (accepted.measures === null && accepted.metrics === null) ? null : accepted,
  };
}

/** Computes frames with fairlearn, in one process of Python for each version that is needed. */
export async function peerValues(frames: readonly Frame[], peer: Peer): Promise<PeerValues[]> {
  const incomplete = frames.filter(needsOldVersion);
  const answers = await askPython(
    frames.map((frame) => peerRequest(frame, false)),
    peer,
    {},
  );
  const old = await askPython(
    incomplete.map((frame) => peerRequest(frame, true)),
    peer,
    { PYTHONPATH: peer.oldVersion },
  );
  return answers.map(({ raw, kept }, position) => {
    const oldAnswer = old[incomplete.indexOf(frames[position] as Frame)];
    return {
      raw: readValues(raw),
      kept: kept === null ? null : readValues(kept),
      old: oldAnswer === undefined ? null : readValues(oldAnswer.raw),
    };
  });
}

function needsOldVersion(frame: Frame): boolean {
  return (frame.kind === 'decisions' || frame.kind === 'classes') && hasGaps(frame);
}

async function askPython(
  requests: readonly object[],
  { python }: Peer,
  environment: Readonly<Record<string, string>>,
): Promise<Answer[]> {
  if (requests.length === 0) return [];
  const folder = await mkdtemp(path.join(tmpdir(), 'evenhand-fairlearn-'));
  const [questions, answers] = [path.join(folder, 'requests.jsonl'), path.join(folder, 'answers.jsonl')];
  try {
    await writeFile(questions, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    await promisify(execFile)(python, [path.join(import.meta.dirname, 'peer.py'), questions, answers], {
      // One thread each: the arrays are small.
      env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', ...environment },
    });
    const lines = (await readFile(answers, 'utf8')).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Answer);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readNumber(written: Written): number {
  if (written === null) return NaN;
  return written === '-inf' ? -Infinity : written === 'inf' ? Infinity : Number(written);
}

function readValues({ measures, metrics }: WrittenValues): FrameValues {
  return {
    measures: new Map(
      Object.entries(measures).map(([name, levels]) => [name, isRejection(levels) ? levels : readLevels(levels)]),
    ),
    metrics: metrics.map((value) => (isRejection(value) ? value : readNumber(value))),
  };
}

/** An empty text is a label of fairlearn 0.15, but a missing group here; it is written as ''. */
function readLevels(levels: readonly WrittenLevel[]): MeasureValues {
  return new Map(
    levels.map(({ level, overall, groups, gaps }) => [
      labelOf(level) ?? '',
      {
        overall: readNumber(overall),
        groups: new Map(groups.map(([label, value]) => [labelOf(label) ?? '', readNumber(value)])),
        gaps: Object.fromEntries(Object.entries(gaps).map(([gap, value]) => [gap, readNumber(value)])) as Record<
          Gap,
          number
        >,
      },
    ]),
  );
}
