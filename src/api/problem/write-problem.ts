import type { ServiceContext } from '../app/service-context.ts';
import type { ServiceProblem } from './service-problem.ts';

/** Answers with a problem: its status, its JSON and its headers. */
export function writeProblem(context: ServiceContext, problem: ServiceProblem): void {
  context.status = problem.status;
  context.body = JSON.stringify(problem);
  context.set('Content-Type', 'application/problem+json; charset=utf-8');
  context.set({ ...problem.headers });
}
