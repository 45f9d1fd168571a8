import { expect } from 'chai';

import type { DataName, RunFigures } from '../../helpers/anchor-data.ts';

type Figures = readonly [accuracy: number, dpd: number, eod: number];

/**
 * Results of fairlearn 0.12.0 with scikit-learn 1.6.1's LogisticRegression(solver='newton-cholesky', tol=1e-10), to
 * four digits: those of the training rows and the test rows, and oracle calls. The anchor runs stop their solver at a
 * gradient of 1e-4, which moves single rows across the threshold.
 */
export const CONVERGED: readonly (readonly [DataName, run: string, train: Figures, test: Figures, calls: number])[] = [
  ['german', 'expgrad_DP_eps0.1', [0.7871, 0.0807, 0.057], [0.7433, 0.0066, 0.1337], 43],
  ['german', 'expgrad_DP_eps0.05', [0.7871, 0.0738, 0.0476], [0.7408, 0.0017, 0.1187], 41],
  ['german', 'expgrad_DP_eps0.02', [0.7807, 0.0295, 0.0216], [0.7341, 0.0361, 0.0749], 23],
  ['german', 'expgrad_DP_eps0.01', [0.7768, 0.0148, 0.0469], [0.7345, 0.0502, 0.0818], 23],
  ['german', 'expgrad_EO_eps0.1', [0.7871, 0.0807, 0.057], [0.7433, 0.0066, 0.1337], 42],
  ['german', 'expgrad_EO_eps0.05', [0.7871, 0.0807, 0.057], [0.7433, 0.0066, 0.1337], 38],
  ['german', 'expgrad_EO_eps0.02', [0.7862, 0.0661, 0.0329], [0.7345, 0.003, 0.1054], 26],
  ['german', 'expgrad_EO_eps0.01', [0.784, 0.0539, 0.0165], [0.7302, 0.0111, 0.0866], 26],
  ['compas', 'expgrad_DP_eps0.1', [0.6567, 0.1978, 0.2208], [0.66, 0.1924, 0.2036], 23],
  ['compas', 'expgrad_DP_eps0.05', [0.6011, 0.0989, 0.1108], [0.603, 0.0922, 0.1126], 20],
  ['compas', 'expgrad_DP_eps0.02', [0.5716, 0.0396, 0.0476], [0.5763, 0.0417, 0.0662], 23],
  ['compas', 'expgrad_DP_eps0.01', [0.5614, 0.0198, 0.0382], [0.5657, 0.0276, 0.0607], 26],
  ['compas', 'expgrad_EO_eps0.1', [0.6364, 0.1763, 0.1706], [0.6385, 0.162, 0.1783], 23],
  ['compas', 'expgrad_EO_eps0.05', [0.5884, 0.0996, 0.0853], [0.5857, 0.1046, 0.1148], 23],
  ['compas', 'expgrad_EO_eps0.02', [0.5618, 0.0334, 0.0341], [0.563, 0.0526, 0.0656], 26],
  ['compas', 'expgrad_EO_eps0.01', [0.5517, 0.018, 0.0171], [0.5553, 0.0313, 0.0538], 26],
];

/** Half a unit in the last digit, plus rounding error. */
const FOUR_DIGITS = 5.1e-5;

export function expectFigures({ accuracy, dpd, eod }: RunFigures, expected: Figures): void {
  for (const [index, value] of [accuracy, dpd, eod].entries())
    expect(value).to.be.closeTo(expected[index] ?? NaN, FOUR_DIGITS);
}
