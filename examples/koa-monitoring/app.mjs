// A service that decides about loans, and watches its own decisions: node app.mjs
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import Koa from 'koa';
import { FairnessDriftAndAlertEngine, FairnessReportingDashboard, RealTimeFairnessTracker } from 'evenhand/monitoring';

const tracker = new RealTimeFairnessTracker({
  columns: { yPred: 'approved', protected: ['sex'], timestamp: 'at' },
});
const engine = new FairnessDriftAndAlertEngine({ limits: { demographic_parity_difference: 0.1 } });
engine.watch(tracker);
const dashboard = new FairnessReportingDashboard({ tracker, engine });

/** Your model. */
const decide = ({ income }) => Number(income >= 30_000);

export const app = new Koa();

app.use(async (context) => {
  const request = `${context.method} ${context.path}`;
  if (request === 'POST /decisions') {
    const applicant = await json(context.req);
    const approved = decide(applicant);
    tracker.record({ at: new Date(), sex: applicant.sex, approved });
    engine.update(tracker);
    context.body = { approved: approved === 1 };
  } else if (request === 'GET /fairness') {
    context.type = 'html';
    context.body = await dashboard.render({ format: 'html' });
  } else if (request === 'GET /fairness/alerts') {
    context.body = engine.alerts.filter(({ isOpen }) => isOpen).map(({ alert }) => alert);
  }
});

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  app.listen(3000, '127.0.0.1', () => console.log('http://127.0.0.1:3000/fairness'));
}
