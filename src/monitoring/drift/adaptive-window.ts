/** The initial capacity, as a number of rows of buckets. The capacity doubles when more rows are needed. */
const FIRST_ROWS = 8;

/** The settings that determine how a window is divided and searched for a change. */
export interface AdaptiveWindowSettings {
  readonly delta: number;
  readonly maxBuckets: number;
  readonly minWindowLength: number;
}

/**
 * The buckets by size. Row r contains the buckets of 2^r values, oldest first. Each bucket is [total, sum of squared
 * deviations].
 */
type BucketRows = [total: number, squares: number][][];

/** The contents of a window as plain data. */
export interface SavedWindow {
  readonly width: number;
  readonly total: number;
  readonly squares: number;
  readonly rows: BucketRows;
}

/**
 * The latest values of a stream in an exponential histogram: at most `maxBuckets` buckets of each of the sizes 1, 2,
 * 4, ... If a size has one bucket too many, its two oldest buckets are merged. The histogram needs O(log n) numbers
 * for n values.
 */
export class AdaptiveWindow {
  readonly #delta: number;
  readonly #minWindowLength: number;
  readonly #maxBuckets: number;
  /** The capacity of a row: `maxBuckets` + 1. The additional bucket triggers a merge. */
  readonly #indices: number;
  #rows = 1;
  #counts = new Int32Array(FIRST_ROWS);
  #totals: Float64Array;
  /** The sum of squared deviations of each bucket from its own mean. */
  #squares: Float64Array;
  #width = 0;
  #total = 0;
  #squaresOfAll = 0;

  constructor(settings: AdaptiveWindowSettings) {
    this.#delta = settings.delta;
    this.#minWindowLength = settings.minWindowLength;
    this.#maxBuckets = settings.maxBuckets;
    this.#indices = settings.maxBuckets + 1;
    this.#totals = new Float64Array(FIRST_ROWS * this.#indices);
    this.#squares = new Float64Array(FIRST_ROWS * this.#indices);
  }

  get width(): number {
    return this.#width;
  }

  get total(): number {
    return this.#total;
  }

  /** The sum of squared deviations from the mean of the window. */
  get squares(): number {
    return this.#squaresOfAll;
  }

  /** Adds the newest value (Welford's update). */
  add(value: number): void {
    const counts = this.#counts;
    const before = this.#width;
    const width = before + 1;
    if (before > 0) {
      const deviation = value - this.#total / before;
      this.#squaresOfAll += (before * deviation * deviation) / width;
    }
    this.#width = width;
    this.#total += value;
    const index = counts[0] as number;
    this.#totals[index] = value;
    this.#squares[index] = 0;
    counts[0] = index + 1;
    if (index === this.#maxBuckets) this.#merge();
  }

  /**
   * Drops the oldest bucket repeatedly, until no cut divides the window into an older and a newer part with
   * significantly different means.
   * @returns the number of values after the most likely position of the change; 0 if nothing was dropped
   */
  shrink(): number {
    if (!this.#hasCut()) return 0;
    const newer = this.#likeliestCut();
    do this.#dropOldest();
    while (this.#hasCut());
    return newer;
  }

  /** Returns the contents as plain data. */
  save(): SavedWindow {
    const rows = Array.from({ length: this.#rows }, (_, row) =>
      Array.from({ length: this.#counts[row] as number }, (_bucket, index): [number, number] => {
        const at = row * this.#indices + index;
        return [this.#totals[at] as number, this.#squares[at] as number];
      }),
    );
    return { width: this.#width, total: this.#total, squares: this.#squaresOfAll, rows };
  }

  /** Creates a window from saved contents, with the settings of the saved window. */
  static load({ width, total, squares, rows }: SavedWindow, settings: AdaptiveWindowSettings): AdaptiveWindow {
    const window = new AdaptiveWindow(settings);
    while (window.#counts.length < rows.length) window.#makeRoom();
    rows.forEach((buckets, row) => {
      window.#counts[row] = buckets.length;
      buckets.forEach(([bucketTotal, bucketSquares], index) => {
        window.#totals[row * window.#indices + index] = bucketTotal;
        window.#squares[row * window.#indices + index] = bucketSquares;
      });
    });
    window.#rows = rows.length;
    window.#width = width;
    window.#total = total;
    window.#squaresOfAll = squares;
    return window;
  }

  /**
   * In each row that has one bucket too many, merges the two oldest buckets. The merged bucket is moved to the next
   * row.
   */
  #merge(): void {
    const indices = this.#indices;
    let row = 0;
    for (let size = 1; this.#counts[row] === indices; size *= 2, row++) {
      if (row + 1 === this.#counts.length) this.#makeRoom();
      const counts = this.#counts;
      const totals = this.#totals;
      const squares = this.#squares;
      const first = row * indices;
      const next = first + indices;
      const target = next + (counts[row + 1] as number);
      const older = totals[first] as number;
      const newer = totals[first + 1] as number;
      const separate = (older - newer) / size;
      totals[target] = older + newer;
      squares[target] = (squares[first] as number) + (squares[first + 1] as number) + 0.5 * size * separate * separate;
      // A loop is faster than copyWithin for a few numbers.
      for (let at = first + 2; at < next; at++) {
        totals[at - 2] = totals[at] as number;
        squares[at - 2] = squares[at] as number;
      }
      counts[row] = indices - 2;
      counts[row + 1] = target - next + 1;
    }
    if (row === this.#rows) this.#rows = row + 1;
  }

  #makeRoom(): void {
    const rows = 2 * this.#counts.length;
    this.#counts = enlarge(this.#counts, new Int32Array(rows));
    this.#totals = enlarge(this.#totals, new Float64Array(rows * this.#indices));
    this.#squares = enlarge(this.#squares, new Float64Array(rows * this.#indices));
  }

  /**
   * Returns whether the window has a significant cut: a border between buckets at which |mean of the older part - mean
   * of the newer part| is above sqrt(2 m v L) + (2/3) m L. Here, v is the variance of the window, n0 and n1 are the
   * lengths of the two parts, L = ln(2 ln(width) / delta), and m = 1/(n0 - minWindowLength + 1) + 1/(n1 -
   * minWindowLength + 1).
   */
  #hasCut(): boolean {
    const minWindowLength = this.#minWindowLength;
    const [counts, totals, indices, width] = [this.#counts, this.#totals, this.#indices, this.#width];
    const logTerm = Math.log((2 * Math.log(width)) / this.#delta);
    const spread = 2 * (this.#squaresOfAll / width) * logTerm;
    const slope = (2 / 3) * logTerm;
    let older = 0;
    let newer = width;
    let olderTotal = 0;
    let newerTotal = this.#total;
    let size = 2 ** (this.#rows - 1);
    for (let row = this.#rows - 1; row >= 0; row--, size /= 2) {
      const end = row * indices + (counts[row] as number);
      for (let at = row * indices; at < end; at++) {
        const bucket = totals[at] as number;
        older += size;
        newer -= size;
        olderTotal += bucket;
        newerTotal -= bucket;
        // From here on, the newer part only gets shorter.
        if (newer < minWindowLength) return false;
        if (older < minWindowLength) continue;
        const olderFree = older - minWindowLength + 1;
        const newerFree = newer - minWindowLength + 1;
        const m = (olderFree + newerFree) / (olderFree * newerFree);
        // This is the difference of the means times older x newer. Divisions are avoided, because they would take most
        // of the time.
        const separate = Math.abs(olderTotal * newer - newerTotal * older);
        if (separate > older * newer * (Math.sqrt(spread * m) + slope * m)) return true;
      }
    }
    return false;
  }

  /**
   * Returns the number of values that come after the least-squares cut. This cut is the border between buckets with the
   * largest n0 n1 (mean0 - mean1)^2, where n0 and n1 are the numbers of values in the older and the newer part.
   */
  #likeliestCut(): number {
    let [older, olderTotal, largest, likeliest] = [0, 0, -1, 0];
    for (let row = this.#rows - 1; row >= 0; row--) {
      for (let index = 0; index < (this.#counts[row] as number); index++) {
        older += 2 ** row;
        olderTotal += this.#totals[row * this.#indices + index] as number;
        const newer = this.#width - older;
        const separate = olderTotal / older - (this.#total - olderTotal) / newer;
        const between = newer > 0 ? older * newer * separate * separate : -1;
        if (between <= largest) continue;
        largest = between;
        likeliest = newer;
      }
    }
    return likeliest;
  }

  #dropOldest(): void {
    const row = this.#rows - 1;
    const first = row * this.#indices;
    const size = 2 ** row;
    const total = this.#totals[first] as number;
    this.#width -= size;
    this.#total -= total;
    const separate = total / size - this.#total / this.#width;
    const between = (size * this.#width * separate * separate) / (size + this.#width);
    // A sum of squares that is negative due to rounding would prevent the detection of changes.
    this.#squaresOfAll = Math.max(0, this.#squaresOfAll - (this.#squares[first] as number) - between);
    this.#totals.copyWithin(first, first + 1, first + this.#indices);
    this.#squares.copyWithin(first, first + 1, first + this.#indices);
    const left = (this.#counts[row] as number) - 1;
    this.#counts[row] = left;
    if (left === 0 && row > 0) this.#rows = row;
  }
}

function enlarge<Numbers extends Int32Array | Float64Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
