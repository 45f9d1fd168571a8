// Writes the data of the VADER sentiment scorer as modules, from the two files of the reference package:
//   node scripts/vader-data.mjs <folder with vader_lexicon.txt and emoji_utf8_lexicon.txt of vaderSentiment 3.3.2>
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const source = process.argv[2];
if (source === undefined) throw new Error('Name the folder of vaderSentiment 3.3.2.');
const target = path.resolve(import.meta.dirname, '../src/llm-evals/text/sentiment');

const LICENCE = `Data of vaderSentiment 3.3.2 (https://github.com/cjhutto/vaderSentiment), written by scripts/vader-data.mjs.

The MIT License (MIT)

Copyright (c) 2016 C.J. Hutto

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** Returns the first two columns of a file, in its order. */
function readPairs(name) {
  const lines = readFileSync(path.join(source, name), 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => line.trim().split('\t').slice(0, 2));
}

// Texts are converted to lower case and split at spaces before the lookup, so other entries would never be found.
const scores = new Map(
  readPairs('vader_lexicon.txt').filter(([word]) => word === word.toLowerCase() && !word.includes(' ')),
);
const byScore = groupByScore();
const lexicon = [...byScore]
  .sort(([a], [b]) => a - b)
  .map(([score, words]) => quote([String(score), ...words.sort()].join(' ')));

// Texts are read character by character, so emoji of several characters would never be found.
const emoji = readPairs('emoji_utf8_lexicon.txt').filter(([character]) => [...character].length === 1);
const emojiLines = [];
for (let i = 0; i < emoji.length; i += 10) {
  emojiLines.push(
    quote(
      emoji
        .slice(i, i + 10)
        .map((pair) => pair.join(' '))
        .join('|'),
    ),
  );
}

write(
  'vader-lexicon.ts',
  'VADER_LEXICON',
  'The words of the VADER lexicon. Each line contains a mean human rating in [-4, 4] and the words with this rating.',
  lexicon,
);
write('vader-emoji.ts', 'VADER_EMOJI', 'The emoji that VADER knows, each with the words that replace it.', emojiLines);

function groupByScore() {
  const groups = new Map();
  for (const [word, score] of scores) groups.set(Number(score), [...(groups.get(Number(score)) ?? []), word]);
  return groups;
}

function quote(text) {
  return `  '${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}',`;
}

function write(file, name, meaning, lines) {
  writeFileSync(
    path.join(target, file),
    `/*!\n${LICENCE.trim().replace(/^/gm, ' * ').replace(/ +$/gm, '')}\n */\n\n/** ${meaning} */\nexport const ${name}: readonly string[] = [\n${lines.join('\n')}\n];\n`,
  );
}
