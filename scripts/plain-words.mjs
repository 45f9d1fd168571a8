// Finds words of the project's former dialect in sources, tests, documentation and messages. Run from the root:
//   node scripts/plain-words.mjs
// Each entry is a word that has no other plain use here, with the words to use instead.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const WORDS = [
  [/\bmend(?:s|ed|ing|able)?\b/i, 'fix'],
  [/\bheed(?:s|ed|ing)?\b/i, 'follow, respect'],
  [/\bfault(?:s|y)?\b/i, 'error, problem (of input); failure (of a network)'],
  [/\b(?:to|can|cannot|could|not) be had\b/i, 'available, not available'],
  [/\banew\b/i, 'again; use a verb with re-'],
  [/\b(?:un)?evenness\b/i, 'parity, disparity'],
  [/\btold (?:from|apart)\b/i, 'distinguished from'],
  [/\btell(?:s|ing)? (?:\S+ )?apart\b/i, 'distinguish'],
  [/\bst(?:ands?|ood|anding)[ -]in\b(?! (?:the|a|an|its|their|quotes|parentheses|braces)\b)/i, 'stub, fake; replace'],
  [/\b(?:MOST|LEAST|LONGEST)_/, 'MAX_, MIN_'],
  [/\bfor ever\b/i, 'indefinitely'],
  [/\bwholly\b/i, 'completely'],
  [/\bwho(?:so)?ever\b/i, 'name the person: the user, the operator'],
  [/\bstrangers?\b/i, 'third party, external'],
  [/\b(?:by|above) so many\b/i, 'by n, above n'],
  [/\bwrong way round\b/i, 'reversed'],
  [/\bset aside\b/i, 'held out, validation rows'],
  [/\bwould have shown\b/i, 'minimum detectable difference'],
  [/\bat rest\b/i, 'stopped'],
  [/\bastray\b/i, 'diverges'],
  [/\bkept up\b/i, 'maintained'],
  [/\bof which the rarer\b/i, 'the less frequent one'],
  [/\b(?:lest|ought|thereof|wherein|whence|hither|begets?)\b/i, 'plain words'],
];

/**
 * Names that a wire format fixes: slugs of problems, the component FieldFault of the OpenAPI document, the key `faults` of
 * configuration checks and of monitoring results, the key `mend` of `doctor --json`, and keys of evaluations.
 */
const FIXED = [
  /internal-fault/g,
  /target_?[fF]ault/g,
  /'FieldFault'|schemas\/FieldFault|(?<=\[|^### )FieldFault|#fieldfault/g,
  /`(?:context\.)?faults`|\['faults'\]|"faults"|\.faults\b|\bfaults\??:|(?:readonly|get) faults\b/g,
  /(?<=[{,] ?)faults\b(?=[,;. }]|$)|^\s*faults,$|'faults'/g,
  /`mend`|\.mend\b|\bmend\??:|'mend'|(?<=[{,] ?)mend\b(?=[,; }]|$)|^\s*mend,$/g,
];

/** The documents of third parties, generated lists of words, and this list. */
const EXCEPT =
  /^(?:scripts\/plain-words\.mjs|test\/golden\/.*|src\/llm-evals\/text\/sentiment\/.*|src\/llm-evals\/scoring\/.*words\.ts|src\/llm-evals\/text\/refusal\/refusal-cues\.ts|test\/llm-evals\/text\/(?:labelled-refusals|refusal-cases)\.ts|models\/.*)$/;

const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.md', '*.css', '*.html', '*.js'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !EXCEPT.test(file));

let found = 0;
for (const file of files) {
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    const fixed = FIXED.reduce((text, name) => text.replace(name, ''), line);
    // Identifiers are read word by word: `mendedFault` is "mended Fault".
    const words = fixed.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/(?<=[A-Za-z])_(?=[a-z])/g, ' ');
    for (const [pattern, instead] of WORDS) {
      if (!pattern.test(pattern.source.includes('MOST') ? fixed : words)) continue;
      found += 1;
      console.log(`${file}:${String(index + 1)}: ${line.trim().slice(0, 140)}\n    write instead: ${instead}`);
    }
  }
}
console.log(`${String(found)} lines with words of the former dialect`);
if (found > 0) process.exitCode = 1;
