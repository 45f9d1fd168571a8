import { judgeDifference, type JudgingRule } from '../../stats/ab/judge-difference.ts';
import { newcombeInterval } from '../../stats/ab/newcombe-interval.ts';
import { pooledDegrees } from '../../stats/ab/student-t.ts';
import type { ABEffect } from './ab-test-fields.ts';
import type { GroupCells } from './arm-cells.ts';
import { definedInterval, numberOrNull } from './defined.ts';

/** The effect of the treatment on the rows of two cells. */
export function effectOfCells({ control, treatment }: GroupCells, rule: JudgingRule): ABEffect {
  const judged = judgeDifference(
    {
      value: treatment.cell.value - control.cell.value,
      standardError: Math.sqrt(treatment.cell.variance + control.cell.variance),
      degrees: pooledDegrees([treatment.cell, control.cell]),
    },
    rule,
  );
  const [after, before] = [treatment.rate, control.rate];
  const isNewcombe = rule.tau === undefined && after !== undefined && before !== undefined;
  const interval = isNewcombe
    ? newcombeInterval(after.successes, after.trials, before.successes, before.trials, 1 - rule.alpha)
    : judged.interval;
  return Object.freeze({
    n: Object.freeze({ control: control.n, treatment: treatment.n }),
    effective: Object.freeze({ control: control.effective, treatment: treatment.effective }),
    control: numberOrNull(control.cell.value),
    treatment: numberOrNull(treatment.cell.value),
    value: numberOrNull(judged.value),
    standardError: numberOrNull(judged.standardError),
    interval: definedInterval(interval),
    pValue: numberOrNull(judged.pValue),
  });
}
