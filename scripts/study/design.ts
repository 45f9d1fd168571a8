/** The measured gap: of a rate, the larger one of two rates, or of mean absolute errors. */
export type StudyMetric = 'dpd' | 'eod' | 'mae';

/** The distribution of absolute errors, which have mean 1 before they are scaled. */
export type ErrorLaw = 'half-normal' | 'exponential' | 'log-normal';

/** A setting of the study: groups, their sizes and their true values. */
export interface Cell {
  readonly id: string;
  readonly table: 'equal' | 'unequal';
  readonly metric: StudyMetric;
  /** The number of rows of each group. */
  readonly sizes: readonly number[];
  /** The rate (or mean absolute error) of each group. */
  readonly levels: readonly number[];
  /** For EOD, the false positive rates; `levels` are the true positive rates. */
  readonly secondLevels: readonly number[];
  readonly law: ErrorLaw | null;
  readonly gap: number;
  /** The label of its table row, without the number of groups. */
  readonly row: readonly string[];
}

export const GROUPS = [2, 3, 5, 8] as const;
const SIZES = [40, 200, 2000] as const;
const RATES = [0.05, 0.3, 0.5] as const;
const GAPS = [0, 0.05, 0.2] as const;
const LAWS: readonly ErrorLaw[] = ['half-normal', 'exponential', 'log-normal'];
/** Base mean absolute errors and their gaps. With 0.25 and 0.2, the last group's errors are 1.8 times as large. */
const ERROR_CASES = [...GAPS.map((gap) => ({ base: 1, gap })), { base: 0.25, gap: 0.2 }];
const SMALL = 40;
const LARGE = 2000;

/** Returns every cell of the study, in the order of its tables. */
export function studyCells(): Cell[] {
  return [...equalCells(), ...unequalCells()];
}

function equalCells(): Cell[] {
  return SIZES.flatMap((n) =>
    GROUPS.flatMap((groups) => cellsOf('equal', Array<number>(groups).fill(n), [String(n)], ['both', 'TPR only'])),
  );
}

/**
 * Returns the cells with one group of 40 and others of 2,000. The small group has the gap, or is one of those without.
 */
function unequalCells(): Cell[] {
  return ['last', 'first'].flatMap((location) =>
    GROUPS.flatMap((groups) => {
      const sizes = Array<number>(groups).fill(LARGE);
      sizes[location === 'last' ? groups - 1 : 0] = SMALL;
      const cells = cellsOf('unequal', sizes, [location], ['both']);
      // Without a gap the groups differ only in size.
      return location === 'last' ? cells : cells.filter(({ gap }) => gap > 0);
    }),
  );
}

function cellsOf(
  table: Cell['table'],
  sizes: readonly number[],
  heading: readonly string[],
  oddsCases: readonly string[],
): Cell[] {
  const rates = RATES.flatMap((rate) => GAPS.map((gap) => ({ rate, gap })));
  const dpd = rates.map(({ rate, gap }) =>
    cell({ table, metric: 'dpd', sizes, base: rate, gap, law: null, row: [...heading, String(rate), String(gap)] }),
  );
  const eod = rates.flatMap(({ rate, gap }) =>
    (gap === 0 ? ['both'] : oddsCases).map((where) => {
      const row = [...heading, String(rate), `${String(gap)}${gap === 0 ? '' : ` in ${where}`}`];
      const one = cell({ table, metric: 'eod', sizes, base: rate, gap, law: null, row });
      return { ...one, secondLevels: where === 'both' ? one.levels : sizes.map(() => rate) };
    }),
  );
  const mae = LAWS.flatMap((law) =>
    ERROR_CASES.map(({ base, gap }) =>
      cell({ table, metric: 'mae', sizes, base, gap, law, row: [...heading, law, String(base), String(gap)] }),
    ),
  );
  return [...dpd, ...eod, ...mae];
}

type CellDraft = Pick<Cell, 'table' | 'metric' | 'sizes' | 'gap' | 'law' | 'row'> & { readonly base: number };

/** Creates a cell whose last group is at base + gap and all others at base. */
function cell({ base, ...draft }: CellDraft): Cell {
  const levels = draft.sizes.map((_, group) => (group === draft.sizes.length - 1 ? base + draft.gap : base));
  const id = [draft.table, draft.metric, `K${String(draft.sizes.length)}`, ...draft.row].join('/');
  return { ...draft, id, levels, secondLevels: [] };
}
