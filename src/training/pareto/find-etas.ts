import { TrainingError } from '../../exceptions/index.ts';

/** How a network trained with a certain eta behaves on the training rows. */
export interface EtaProbe {
  /** Whether the network's gap differs from the gap of the network with eta 0 by more than noise. */
  readonly changesGap: boolean;
  /** Whether the network is no better than giving all rows the same decision. */
  readonly isConstant: boolean;
}

/** Trains one network for each eta. The first eta requested is 0. */
export type ProbeEtas = (etas: readonly number[]) => Promise<readonly EtaProbe[]>;

/** The range of etas in which a penalty has an effect and the model is not constant. */
export interface EtaRange {
  /**
   * The largest eta that was tried up to which the penalty has no effect: the gap differs from the gap at eta 0 by no
   * more than noise.
   */
  readonly from: number;
  /**
   * The largest eta that was tried before the first constant model, or the largest eta that was tried if no model was
   * constant.
   */
  readonly to: number;
  readonly endsAt: 'constant' | 'limit';
  /** Whether at least one eta in the range changes the gap by more than noise. */
  readonly hasEffect: boolean;
  /** All etas that the search tried, ascending. */
  readonly tried: readonly number[];
}

/** The etas of a sweep, and their range. */
export interface FoundEtas {
  readonly etas: readonly number[];
  readonly range: EtaRange;
}

/** The number of etas in a sweep, excluding eta 0. */
const POINTS = 8;

/** The factor between the etas of the coarse search. */
const COARSE = 4;

/**
 * Powers of the coarse factor. The search starts with the powers in `FIRST`. If they do not contain both ends of the
 * range, the powers in `SMALLER` or `LARGER` are also tried.
 */
const [FIRST, SMALLER, LARGER] = [powers(-5, 6), powers(-10, -6), powers(7, 10)];

/** The factors that are tried between two neighbouring etas of the coarse search. */
const FINE = [1, 2, 3].map((step) => COARSE ** (step / 4));

/** If no effect is found, the largest eta of the range is this many times its smallest eta. */
const BLIND_SPAN = 100;

/**
 * Finds the range from the largest eta without an effect to the last eta before a constant model. Returns 0 and eight
 * geometrically spaced etas. The search tries powers of 4 between 1e-3 and 4096. If these powers do not bracket the
 * range, the search tries smaller powers down to 1e-6 and larger powers up to 1e6. Finally, it tries factors of the
 * square root of 2 at both ends of the range.
 * @throws {TrainingError} if the model without a penalty is constant, or if every eta gives a constant model
 */
export async function findEtas(probe: ProbeEtas): Promise<FoundEtas> {
  const known = new Map<number, EtaProbe>();
  const tryAll = async (etas: readonly number[]): Promise<EtaRange> => {
    const fresh = [...new Set(etas)].filter((eta) => !known.has(eta));
    const probes = fresh.length === 0 ? [] : await probe(fresh);
    for (const [index, eta] of fresh.entries()) known.set(eta, probes[index] as EtaProbe);
    return rangeOf(known);
  };
  let range = await tryAll([0, ...FIRST]);
  if (known.get(0)?.isConstant !== false) throw constantModel('0, without a penalty,');
  if (range.from === 0 || range.to === 0) range = await tryAll(SMALLER);
  if (range.endsAt === 'limit') range = await tryAll(LARGER);
  if (range.to === 0) throw constantModel(`${String(SMALLER[0])} and all larger etas`);
  range = await tryAll([range.from, range.to].flatMap((eta) => finerThan(eta, range)));
  const from = range.from > 0 && range.hasEffect ? range.from : rounded(range.to / BLIND_SPAN);
  const found = Object.freeze({ ...range, from, tried: Object.freeze([...range.tried]) });
  return { etas: spread(from, range.to), range: found };
}

/** Returns the range according to the etas tried so far. If an end of the range is not known yet, it is 0. */
function rangeOf(known: ReadonlyMap<number, EtaProbe>): EtaRange {
  const tried = [...known.keys()].sort((a, b) => a - b);
  const etas = tried.slice(1);
  const firstConstant = etas.findIndex((eta) => known.get(eta)?.isConstant === true);
  const usable = firstConstant < 0 ? etas : etas.slice(0, firstConstant);
  const firstEffect = usable.findIndex((eta) => known.get(eta)?.changesGap === true);
  const same = firstEffect < 0 ? usable : usable.slice(0, firstEffect);
  return {
    from: same.at(-1) ?? 0,
    to: usable.at(-1) ?? 0,
    endsAt: firstConstant < 0 ? 'limit' : 'constant',
    hasEffect: firstEffect >= 0,
    tried,
  };
}

/** Returns new etas to try: values between an end of the range and the next larger eta that was tried. */
function finerThan(eta: number, { tried }: EtaRange): number[] {
  const next = tried.find((other) => other > eta);
  return eta === 0 || next === undefined ? [] : FINE.map((factor) => rounded(eta * factor));
}

/** Returns 0 and geometrically spaced etas. */
function spread(from: number, to: number): number[] {
  const etas = Array.from({ length: POINTS }, (_, index) => rounded(from * (to / from) ** (index / (POINTS - 1))));
  return [...new Set([0, ...etas])];
}

function powers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => rounded(COARSE ** (first + index)));
}

/** Rounds to three digits, so that etas are easy to read and type. */
function rounded(eta: number): number {
  return Number(eta.toPrecision(3));
}

function constantModel(etas: string): TrainingError {
  return new TrainingError(`The network of eta ${etas} is no better than a constant decision on the training rows.`, {
    suggestion: 'Train longer (epochs), change the learning rate (lr), use other features, or set the etas yourself.',
  });
}
