import { withoutInheritedNames } from '../../charts/inherited-names.ts';
import { DARK, LIGHT } from '../../charts/palette.ts';
import type { Chart } from '../../charts/chart.ts';
import type { DashboardFigure } from './dashboard-figure.ts';

/** A chart as the page's script takes it. */
export interface LiveChart {
  readonly option: unknown;
  /** What of the option is different on dark ground, at the places where it is. */
  readonly darkChanges: unknown;
  /** The unit of values under the pointer; null where the chart says these itself. */
  readonly unit: 'share' | 'number' | null;
}

/** A chart for the script of a page, and its size and sentence for the page itself. */
export function liveChart({ draw }: DashboardFigure): { live: LiveChart; light: Chart } {
  const light = draw(LIGHT);
  const option = withoutInheritedNames(light.option);
  const darkChanges = differences(option, withoutInheritedNames(draw(DARK).option)) ?? {};
  return { live: { option, darkChanges, unit: unitOf(option) }, light };
}

function unitOf(option: Chart['option']): LiveChart['unit'] {
  const { dataset, yAxis } = option as { dataset?: unknown; yAxis?: { axisLabel?: { formatter?: unknown } } };
  if (dataset === undefined) return null;
  return yAxis?.axisLabel?.formatter === undefined ? 'number' : 'share';
}

/** What must be put over `from` to get `to`, which has the same form: only the places that differ; undefined where none does. */
export function differences(from: unknown, to: unknown): unknown {
  if (Object.is(from, to)) return undefined;
  if (typeof from !== 'object' || typeof to !== 'object' || from === null || to === null) return to;
  const found = Object.entries(to).flatMap(([key, value]: [string, unknown]) => {
    const change = differences((from as Record<string, unknown>)[key], value);
    return change === undefined ? [] : [[key, change] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
