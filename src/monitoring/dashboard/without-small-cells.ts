import type { MonitoringView } from './monitoring-view.ts';

/** A rate of fewer events is not shown: it could tell what was decided of single persons. */
export const LEAST_SHOWN = 20;

/** A view in which no rate of a group, nor of a crossing's cell, with fewer than twenty events is left. */
export function withoutSmallCells(view: MonitoringView): MonitoringView {
  return {
    ...view,
    watched: view.watched.map((watched) => ({
      ...watched,
      now: watched.now.map(withoutSmallRate),
      overall: watched.overall.map(withoutSmallRate),
    })),
    history: view.history.map(withoutSmallRate),
    crossings: view.crossings.map((crossing) => ({
      ...crossing,
      cells: crossing.cells.map((cell) => (cell.n < LEAST_SHOWN ? { ...cell, value: null } : cell)),
    })),
  };
}

type Rate = MonitoringView['history'][number];

function withoutSmallRate(record: Rate): Rate {
  const isShown = record.group === null || record.n >= LEAST_SHOWN;
  return isShown ? record : { ...record, value: null, low: null, high: null };
}
