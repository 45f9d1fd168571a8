import type { AlertTransition } from '../alarms/alert-event.ts';

/** A transition in one line: `Alarm raised (high): … [sex:demographic_parity_difference:1]`. */
export function transitionText({ change, alert }: AlertTransition): string {
  const { tier, severity, reason, id } = alert;
  const weight = change === 'raised' || change === 'repeated' ? ` (${severity})` : '';
  return `${tier === 'alarm' ? 'Alarm' : 'Watch'} ${change}${weight}: ${reason} [${id}]`;
}
