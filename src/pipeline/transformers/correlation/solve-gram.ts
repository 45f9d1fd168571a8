/** A pivot this small, of a matrix with ones on its diagonal, is what rounding leaves of a column that others make up. */
const DEPENDENT = 1e-10;

/**
 * Solves G b = r for a symmetric positive semi-definite G with a diagonal of
 * ones (or zeros), by Cholesky's factorisation with pivots. Of columns that
 * depend on each other only the first pivots have a coefficient; the others
 * get 0. O(m^3), in place of `gram`'s copy.
 * @param gram [m, m], in rows
 * @param right [m]
 */
export function solveGram(gram: Float64Array, right: Float64Array): Float64Array {
  const size = right.length;
  const at = (row: number, column: number): number => row * size + column;
  const factor = Float64Array.from(gram);
  const order = Array.from({ length: size }, (_, place) => place);
  let rank = 0;
  for (; rank < size; rank++) {
    const pivot = largestDiagonal(factor, order, rank);
    if (!((factor[at(order[pivot] as number, order[pivot] as number)] as number) > DEPENDENT)) break;
    [order[rank], order[pivot]] = [order[pivot] as number, order[rank] as number];
    eliminate(factor, order, rank);
  }
  const solution = new Float64Array(size);
  const used = order.slice(0, rank);
  const middle = forward(factor, used, right);
  for (let place = rank - 1; place >= 0; place--) {
    const row = used[place] as number;
    let value = middle[place] as number;
    for (let later = place + 1; later < rank; later++) {
      const other = used[later] as number;
      value -= (factor[at(other, row)] as number) * (solution[other] as number);
    }
    solution[row] = value / (factor[at(row, row)] as number);
  }
  return solution;
}

function largestDiagonal(factor: Float64Array, order: readonly number[], from: number): number {
  const size = order.length;
  let best = from;
  for (let place = from + 1; place < size; place++) {
    const [own, most] = [order[place] as number, order[best] as number];
    if ((factor[own * size + own] as number) > (factor[most * size + most] as number)) best = place;
  }
  return best;
}

/** One step of the factorisation: column `rank` of L, and what is left of the diagonal and below. */
function eliminate(factor: Float64Array, order: readonly number[], rank: number): void {
  const size = order.length;
  const pivot = order[rank] as number;
  const root = Math.sqrt(factor[pivot * size + pivot] as number);
  factor[pivot * size + pivot] = root;
  for (let place = rank + 1; place < size; place++) {
    const row = order[place] as number;
    factor[row * size + pivot] = (factor[row * size + pivot] as number) / root;
  }
  for (let place = rank + 1; place < size; place++) {
    const row = order[place] as number;
    const own = factor[row * size + pivot] as number;
    for (let other = rank + 1; other < size; other++) {
      const column = order[other] as number;
      const by = own * (factor[column * size + pivot] as number);
      factor[row * size + column] = (factor[row * size + column] as number) - by;
    }
  }
}

function forward(factor: Float64Array, used: readonly number[], right: Float64Array): Float64Array {
  const size = right.length;
  const middle = new Float64Array(used.length);
  used.forEach((row, place) => {
    let value = right[row] as number;
    for (let before = 0; before < place; before++) {
      value -= (factor[row * size + (used[before] as number)] as number) * (middle[before] as number);
    }
    middle[place] = value / (factor[row * size + row] as number);
  });
  return middle;
}
