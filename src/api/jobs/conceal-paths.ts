import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

import type { FieldFault, ProblemJson } from '../problem/service-problem.ts';
import type { Job } from './job.ts';

/**
 * A problem whose texts tell nothing of where the service keeps its files: the upload is called by what it is, a file in
 * the folder for language models by its name there, and other folders not at all.
 */
export function concealPaths(problem: ProblemJson, job: Job, folder: string): ProblemJson {
  const conceal = concealer(job, folder);
  return {
    ...problem,
    detail: conceal(problem.detail),
    ...(problem.suggestion === undefined ? {} : { suggestion: conceal(problem.suggestion) }),
    ...(problem.errors === undefined
      ? {}
      : {
          errors: problem.errors.map(({ pointer, detail }): FieldFault => ({ pointer, detail: conceal(detail) })),
        }),
  };
}

function concealer(job: Job, folder: string): (text: string) => string {
  const uploads = 'path' in job ? formsOf(job.path) : [];
  const llmFolder = job.kind === 'llm-eval' && job.llmFolder !== null ? formsOf(job.llmFolder) : [];
  const inside = llmFolder.map((own) => own + path.sep);
  const elsewhere = [...llmFolder, ...formsOf(folder), ...uploads.map((own) => path.dirname(own))];
  const places = [...elsewhere, process.cwd(), tmpdir(), homedir()].filter((place) => place.length > 1);
  return (text) => {
    const named = uploads.reduce(
      (told, upload) => told.replaceAll(`'${upload}'`, UPLOAD).replaceAll(upload, UPLOAD),
      text,
    );
    const relative = inside.reduce((told, prefix) => told.replaceAll(prefix, ''), named);
    const hidden = places.reduce((told, place) => hidePlace(told, place), relative);
    return hidden.replaceAll(/(^|[.!?\n] )the uploaded file/g, '$1The uploaded file');
  };
}

const UPLOAD = 'the uploaded file';

/** A path as it was given, and as it is written whole. */
function formsOf(given: string): string[] {
  return [...new Set([given, path.resolve(given)])].sort((a, b) => b.length - a.length);
}

/** Takes out a folder and what is named below it. */
function hidePlace(text: string, place: string): string {
  if (!text.includes(place)) return text;
  const escaped = place.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(
    new RegExp(`${escaped}(?![\\p{L}\\p{N}_-])(?:[/\\\\][^\\s'",;:)]*)?`, 'gu'),
    'a folder of the service',
  );
}
