/** A model in the style of an external library: it chooses the class with the nearer weighted mean. */
export class NearestMean {
  means: number[][] = [];
  totals: number[] = [];

  fit(x: number[][], y: number[], { sampleWeight }: { sampleWeight?: number[] } = {}) {
    const weights = sampleWeight ?? y.map(() => 1);
    const total = (label: number, of: (row: number) => number) =>
      y.reduce((sum, value, row) => (value === label ? sum + (weights[row] ?? NaN) * of(row) : sum), 0);
    this.totals = [0, 1].map((label) => total(label, () => 1));
    this.means = [0, 1].map((label) =>
      (x[0] ?? []).map((_, column) => total(label, (row) => x[row]?.[column] ?? NaN) / (this.totals[label] ?? NaN)),
    );
  }

  predict(x: number[][]): number[] {
    if (this.totals.includes(0)) return x.map(() => Number(this.totals[0] === 0));
    return x.map((row) => Number(this.distance(row, 1) < this.distance(row, 0)));
  }

  toJSON() {
    return { means: this.means, totals: this.totals };
  }

  private distance(row: number[], label: number): number {
    return row.reduce((sum, value, column) => sum + (value - (this.means[label]?.[column] ?? NaN)) ** 2, 0);
  }
}
