import { expect } from 'chai';

import { loadData } from '../../../src/io/load-data.ts';
import { type DetectorReport, runDetectors } from '../../../src/pipeline/detectors/index.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';

type Expected = readonly [column: string, statistic: number, pValue: number, adjusted: number, size: number];

// SciPy 1.17.1 (chi2_contingency without correction, f_oneway), statsmodels 0.15.0 (fdr_bh), and Bergsma's formula on them.
const BY_SEX: readonly Expected[] = [
  ['age', 258.9691037786694, 4.8239930687796746e-58, 8.958844270590825e-58, 0.00789107646971523],
  ['workclass', 768.9139234794313, 1.0286039850311591e-160, 2.6743703610810138e-160, 0.15287113763042887],
  ['fnlwgt', 23.50353866762027, 1.2525843627259012e-6, 1.3569663929530596e-6, 0.0007213545957181313],
  ['education', 297.71500372503687, 1.667778440920507e-54, 2.7101399664958237e-54, 0.09318196764447237],
  ['education-num', 4.9106290799115655, 0.026698806191321478, 0.026698806191321478, 0.00015079973458489833],
  ['marital-status', 6944.747255715985, 0, 0, 0.46163457706190386],
  ['occupation', 5863.7547861768935, 0, 0, 0.4238640825725441],
  ['relationship', 13714.739994163572, 0, 0, 0.6488919835476713],
  ['race', 454.2671089131088, 5.192061302760456e-97, 1.1249466155980988e-96, 0.11759608263603971],
  ['capital-gain', 76.70291454153319, 2.0812089246629527e-18, 3.0061906689575984e-18, 0.0023502761605099743],
  ['capital-loss', 67.74564651204359, 1.92868360460165e-16, 2.5072886859821447e-16, 0.0020763838124102305],
  ['hours-per-week', 1807.0597214508332, 0, 0, 0.05258268582717085],
  ['native-country', 146.81173973490073, 7.950883043096852e-14, 9.396498141841734e-14, 0.05700620699343633],
];

const BY_RACE: readonly Expected[] = [
  ['age', 15.493031124763805, 1.1478278646171903e-12, 1.356523840002134e-12, 0.0018999379931565006],
  ['workclass', 412.53659238316556, 1.1256884540047491e-67, 1.6259944335624155e-67, 0.05405619430594869],
  ['marital-status', 923.8086971524608, 1.3087338193819433e-179, 5.671179883988421e-179, 0.08312329126772969],
  ['relationship', 1253.3840595964264, 2.825570052626954e-253, 1.8366205342075202e-252, 0.097318828615257],
  ['capital-gain', 4.462981408134131, 0.0013216747745147868, 0.0013216747745147868, 0.0005480446608922138],
  ['native-country', 21814.79324434658, 0, 0, 0.4077412699450755],
];

describeWithReference('the detectors on Adult', () => {
  let report: DetectorReport;
  before(async () => {
    report = await runDetectors(await loadData(referencePath('data', 'adult.train.csv')), {
      sensitive: ['sex', 'race'],
      intersections: [['sex', 'race']],
      benchmarks: { sex: { Male: 0.5, Female: 0.5 } },
      training: { targetColumn: 'income-per-year' },
    });
  });

  for (const [attribute, expected] of [
    ['sex', BY_SEX],
    ['race', BY_RACE],
  ] as const) {
    for (const [name, statistic, pValue, adjusted, size] of expected) {
      it(`${name} by ${attribute} matches SciPy`, () => {
        const found = report.body.disparities.find((own) => own.attribute === attribute && own.column === name);
        const near = (actual: number | undefined, value: number) => {
          expect(actual).to.be.closeTo(value, Math.max(1e-9 * value, Number.MIN_VALUE));
        };
        near(found?.statistic, statistic);
        near(found?.pValue, pValue);
        near(found?.adjustedPValue, adjusted);
        expect(found?.effectSize).to.be.closeTo(size, 1e-10);
      });
    }
  }

  it('finds relationship and marital status as proxies of sex, and native country of race', () => {
    const proxies = report.body.proxies.map(({ attribute, column, value }) => [attribute, column, value.toFixed(3)]);
    expect(proxies).to.deep.equal([
      ['sex', 'relationship', '0.649'],
      ['sex', 'marital-status', '0.462'],
      ['sex', 'occupation', '0.424'],
      ['race', 'native-country', '0.408'],
      ['sex||race', 'relationship', '0.303'],
    ]);
  });

  it('compares 21,790 men of 32,561 rows with halves: chi2 = 3728.95', () => {
    const [sex] = report.body.representation;
    expect(sex?.statistic).to.be.closeTo(3728.950615767329, 1e-8);
    expect(sex?.groups.map(({ group, n }) => [group, n])).to.deep.equal([
      ['Female', 10_771],
      ['Male', 21_790],
    ]);
  });
});
