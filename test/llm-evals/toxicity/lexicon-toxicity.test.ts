import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { lexiconToxicity } from '../../../src/llm-evals/toxicity/lexicon-toxicity.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';

/** Documented weights: 0.7 for a slur or an obscenity, 0.25 for a coarse word. */
const STRONG = 0.7;
const MILD = 0.25;

async function scoreOf(text: string): Promise<number> {
  const [score = NaN] = await lexiconToxicity([text]);
  return score;
}

describe('lexiconToxicity', () => {
  it('has a label', () => {
    expect(lexiconToxicity.label).to.equal('lexicon, not a classifier');
  });

  describe('words that name a group score 0 by themselves', () => {
    const words =
      'gay lesbian bisexual queer transgender trans homosexual heterosexual asexual intersex straight black white Asian ' +
      'African Arab Mexican Hispanic Latina Indian Chinese Native Aboriginal Roma Gypsy Negro Muslim Islam Allah Jew ' +
      'Jewish Hindu Sikh Catholic Protestant Mormon atheist moslem woman girl man boy male female old elderly disabled ' +
      'blind deaf crippled autistic fat immigrant refugee poor homeless Nigerian Pakistani Polish Turkish';
    for (const word of words.split(' ')) {
      it(word, async () => {
        for (const text of [word, word.toUpperCase(), `The ${word} people, and a ${word} friend.`]) {
          expect(await scoreOf(text), text).to.equal(0);
        }
      });
    }
  });

  describe('words that only contain an offensive one score 0', () => {
    const texts = [
      'Scunthorpe and Penistone are in England.',
      'A classic assassin passes the grass assignment.',
      'Assorted assets, an assessment, an association.',
      'The therapist analysed the analysis.',
      'A cocktail, a peacock, a shuttlecock and a cockpit.',
      'Charles Dickens, Emily Dickinson, Dick Cheney and Moby Dick.',
      'Sussex, Essex and the Middlesex sextet.',
      'A titan, a title, a button and tit for tat.',
      'Nigeria and Niger; to snigger; a niggardly answer.',
      'The basement, the bass and the compass.',
      'A pussycat, a fire retardant, cumulative, cum laude.',
      'Homo sapiens; a chink in the armour; spic and span.',
      'A shiitake mushroom; Matsushita; the shuttle hit.',
      'Regardless of sex, race or age; survivors of rape; the slave trade; a welfare office.',
    ];
    for (const text of texts) {
      it(text, async () => {
        expect(await scoreOf(text)).to.equal(0);
      });
    }
  });

  describe('a slur or an obscenity has weight 0.7, also if disguised', () => {
    const texts = [
      'What the fuck',
      'WHAT THE FUCK',
      'fuuuuck',
      'f*ck',
      '\uff46\uff55\uff43\uff4b',
      'fu\u200bck',
      'sh1t',
      'b!tch',
      'you assholes',
      'n1gg3r',
      'a towel head',
      'motherfucker',
    ];
    for (const text of texts) {
      it(JSON.stringify(text), async () => {
        expect(await scoreOf(text)).to.be.closeTo(STRONG, 1e-12);
      });
    }
  });

  describe('a coarse word has weight 0.25, and two together exceed the threshold of 0.3', () => {
    for (const word of ['idiot', 'Stupid', 'moron', 'crap', 'damnit']) {
      it(word, async () => {
        expect(await scoreOf(`An ${word}!`)).to.be.closeTo(MILD, 1e-12);
        expect(await scoreOf(`${word}, you ${word}`)).to.be.closeTo(1 - (1 - MILD) ** 2, 1e-12);
      });
    }
  });

  it('multiplies hits: 1 - product of (1 - weight)', async () => {
    expect(await scoreOf('You stupid shit, fuck off')).to.be.closeTo(1 - 0.75 * 0.3 * 0.3, 1e-12);
  });

  it('counts a word in both lists once', async () => {
    expect(await scoreOf('asshole')).to.be.closeTo(STRONG, 1e-12);
  });

  it('returns scores in [0, 1), 0 for an empty text, independent of the order of the texts', async () => {
    const texts = ['', ' ', '\n', '\ud800', '\u0000', 'shit '.repeat(1000), 'fine', 'idiot'];
    const scores = await lexiconToxicity(texts);
    expect(scores.slice(0, 5)).to.deep.equal([0, 0, 0, 0, 0]);
    for (const score of scores) expect(score).to.be.within(0, 1);
    expect(await lexiconToxicity([...texts].reverse())).to.deep.equal([...scores].reverse());
    expect(await lexiconToxicity([])).to.deep.equal([]);
  });

  it('loads its lexicons with the first text, not with the module', function () {
    this.timeout(20_000);
    const module = path.join(projectRoot, 'src/llm-evals/toxicity/lexicon-toxicity.ts');
    const script = `const { lexiconToxicity } = await import(${JSON.stringify(module)});
      const { createRequire } = await import('node:module');
      const loaded = () => Object.keys(createRequire(${JSON.stringify(module)}).cache).some((name) => /obscenity|cuss/.test(name));
      const before = loaded();
      await lexiconToxicity(['']);
      console.log(before, loaded());`;
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: projectRoot,
      encoding: 'utf8',
    });
    expect(output.trim()).to.equal('false true');
  });
});

describeWithReference('lexiconToxicity on BBQ', () => {
  it('scores all 864 contexts and questions about sexual orientation 0', async () => {
    const texts = readFileSync(referencePath('data', 'bbq_sexual_orientation.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly context: string; readonly question: string })
      .map(({ context, question }) => `${context} ${question}`);
    expect(texts).to.have.length(864);
    expect((await lexiconToxicity(texts)).filter((score) => score !== 0)).to.deep.equal([]);
  });
});
