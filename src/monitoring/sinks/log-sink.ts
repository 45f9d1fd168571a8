import { getLogger } from '../../internal/logger.ts';
import type { AlertSink } from '../alarms/alert-event.ts';
import { transitionText } from './transition-json.ts';

/**
 * Creates a sink that writes one log line for each transition. The level is `warn` for an alarm that is raised or
 * repeated, and `info` for all other transitions.
 * @example
 * ```ts
 * import { logSink } from 'evenhand/monitoring';
 *
 * const sink = logSink();
 * console.log(sink.name, sink.failures);
 * // log 0
 * ```
 */
export function logSink(): AlertSink {
  let failures = 0;
  return {
    name: 'log',
    get failures() {
      return failures;
    },
    send(transition) {
      try {
        const { change, alert } = transition;
        const isUrgent = alert.tier === 'alarm' && (change === 'raised' || change === 'repeated');
        getLogger()[isUrgent ? 'warn' : 'info'](transitionText(transition));
      } catch {
        // If the log cannot be written, there is nowhere else to report the failure.
        failures++;
      }
    },
    close: () => Promise.resolve(),
  };
}
