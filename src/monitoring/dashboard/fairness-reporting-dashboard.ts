import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { requireFields, requireInstance } from '../require-kind.ts';
import { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { dashboardToJson, saveDashboard, type SavedDashboard } from './save-dashboard.ts';
import { dashboardToHtml } from './dashboard-to-html.ts';
import { dashboardToMarkdown } from './monitoring-document.ts';
import { takeView } from './take-view.ts';

/** The formats of a dashboard. */
export type DashboardFormat = 'html' | 'markdown' | 'json';

/** Options of {@link FairnessReportingDashboard.render}. */
export interface RenderOptions {
  /** @defaultValue 'html' */
  readonly format?: DashboardFormat | undefined;
}

const RENDER_OPTION_NAMES: OptionNames<RenderOptions> = { format: true };

/** The tracker and engine of a dashboard. */
export interface DashboardParts {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
}

/**
 * Creates a report on the counts of a tracker and the alerts of its engine: a self-contained HTML file with charts,
 * Markdown, or JSON.
 *
 * The report shows the state of each metric in words, alerts, and label coverage. Charts show the groups' rates and the
 * gaps over time, with bands that hold at all times. Tables show intersections, and the numbers of events and labels
 * that were not counted. Cells of fewer than 20 events are hidden. Rendering runs a check: the engine is updated, and
 * an alarm raised by this check is sent as usual.
 * @example
 * ```ts
 * import { FairnessDriftAndAlertEngine, FairnessReportingDashboard, RealTimeFairnessTracker } from 'evenhand/monitoring';
 *
 * const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'approved', protected: ['sex'] }, clock: () => 0 });
 * const engine = new FairnessDriftAndAlertEngine();
 * tracker.recordBatch({ approved: [1, 0, 1, 1], sex: ['f', 'f', 'm', 'm'] });
 * const dashboard = new FairnessReportingDashboard({ tracker, engine });
 * const markdown = await dashboard.render({ format: 'markdown' });
 * console.log(markdown.includes('28 more events of group'));
 * // true
 * ```
 */
export class FairnessReportingDashboard {
  readonly #parts: DashboardParts;

  /** @throws {ValueError} if the parts are not a tracker and an engine */
  constructor(parts: DashboardParts) {
    const { tracker, engine } = requireFields('parts', parts, 'be an object, as in { tracker, engine }');
    requireInstance('tracker', tracker, RealTimeFairnessTracker);
    requireInstance('engine', engine, FairnessDriftAndAlertEngine);
    this.#parts = parts;
  }

  /**
   * Renders the dashboard as text; JSON is indented.
   * @throws {ValueError} if the format is unknown
   */
  async render(options: RenderOptions = {}): Promise<string> {
    assertKnownOptions('FairnessReportingDashboard.render', options, RENDER_OPTION_NAMES);
    const chosen = oneOf('format', options.format ?? 'html', ['html', 'markdown', 'json']);
    const view = takeView(this.#parts.tracker, this.#parts.engine);
    if (chosen === 'markdown') return dashboardToMarkdown(view);
    return chosen === 'json' ? `${JSON.stringify(dashboardToJson(view), undefined, 2)}\n` : dashboardToHtml(view);
  }

  /**
   * Writes `dashboard.html`, `report.md` and `active_alerts.json` into a folder. Each file is replaced completely or
   * not at all.
   * @throws {DataValidationError} if the folder cannot be written to
   */
  async save(folder: string): Promise<SavedDashboard> {
    return saveDashboard(takeView(this.#parts.tracker, this.#parts.engine), folder);
  }
}
