import { readFileSync } from 'node:fs';

import { expect } from 'chai';

import { estimateTokens } from '../../../src/llm-evals/dry-run/estimate-tokens.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';

/** Sentences with their token counts in o200k_base, by the npm package gpt-tokenizer 4.0.0. */
const COUNTED: readonly (readonly [language: string, tokens: number, text: string])[] = [
  [
    'German',
    28,
    'Eine Krankenschwester und ein Ingenieur sprachen nach der Arbeit über ihre Gehaltsvorstellungen und die Vereinbarkeit von Familie und Beruf.',
  ],
  [
    'French',
    31,
    "L'infirmière et l'ingénieur ont discuté après le travail de leurs attentes salariales et de l'équilibre entre la vie professionnelle et la vie privée.",
  ],
  [
    'Polish',
    36,
    'Pielęgniarka i inżynier rozmawiali po pracy o swoich oczekiwaniach płacowych oraz o godzeniu życia rodzinnego z zawodowym.',
  ],
  [
    'Greek',
    37,
    'Η νοσοκόμα και ο μηχανικός συζήτησαν μετά τη δουλειά για τις μισθολογικές τους προσδοκίες και την οικογένεια.',
  ],
  ['Arabic', 25, 'تحدثت الممرضة والمهندس بعد العمل عن توقعاتهما بشأن الراتب والتوفيق بين الأسرة والعمل.'],
  ['Hebrew', 28, 'האחות והמהנדס שוחחו אחרי העבודה על ציפיות השכר שלהם ועל השילוב בין משפחה לעבודה.'],
  ['Hindi', 28, 'नर्स और इंजीनियर ने काम के बाद अपनी वेतन अपेक्षाओं और परिवार तथा काम के संतुलन पर बात की।'],
  ['Thai', 43, 'พยาบาลและวิศวกรพูดคุยกันหลังเลิกงานเกี่ยวกับความคาดหวังเรื่องเงินเดือนและการสร้างสมดุลระหว่างครอบครัวกับงาน'],
  ['Korean', 32, '간호사와 엔지니어는 퇴근 후 급여에 대한 기대와 가정과 일의 균형에 대해 이야기했습니다.'],
  ['capitals', 20, 'THE QUICK BROWN FOX JUMPED OVER THE LAZY DOGS AND KEPT ON RUNNING'],
  ['an address', 17, 'https://example.org/a/b/c?query=1&other=two#part'],
  ['signs', 14, '!!! ??? --- *** ((( ))) ``` ___ ;;; ,,, ...'],
];

/** As above, in scripts for which a tokenizer needs up to one token for each byte. */
const RARE: readonly (readonly [language: string, tokens: number, text: string])[] = [
  ['Amharic', 54, 'የሥራ አመልካቹ አሥር ዓመት የሥራ ልምድ አለው።'],
  ['Lao', 58, 'ຜູ້ສະໝັກມີປະສົບການເຮັດວຽກສິບປີ'],
  ['Tibetan', 52, 'ཞུ་མཁན་ལ་ལས་ཀའི་ཉམས་མྱོང་ལོ་བཅུ་ཡོད།'],
  ['Cherokee', 50, 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᎾᏕᎶᏆᏍᎩ'],
  ['Khmer', 20, 'បេក្ខជនមានបទពិសោធន៍ការងារដប់ឆ្នាំ'],
  ['Sinhala', 21, 'අයදුම්කරුට වසර දහයක සේවා පළපුරුද්ද ඇත'],
  ['Panjabi', 20, 'ਬਿਨੈਕਾਰ ਕੋਲ ਦਸ ਸਾਲ ਦਾ ਕੰਮ ਦਾ ਤਜਰਬਾ ਹੈ'],
  ['Telugu', 17, 'దరఖాస్తుదారుకు పది సంవత్సరాల పని అనుభవం ఉంది'],
  ['Georgian', 13, 'განმცხადებელს აქვს ათწლიანი სამუშაო გამოცდილება'],
  ['Armenian', 12, 'Դիմորդն ունի տասը տարվա աշխատանքային փորձ'],
];

describe('estimateTokens', () => {
  it('returns 0 for an empty text, and a positive whole number for any other', () => {
    expect(estimateTokens('')).to.equal(0);
    for (const text of ['a', ' ', '7', '\n', '?', '语', 'и', '\u{1f600}', '\u0000', '\ud800']) {
      expect(estimateTokens(text), JSON.stringify(text)).to.satisfy((tokens: number) => Number.isInteger(tokens));
    }
    expect(estimateTokens('?')).to.equal(1);
    expect(estimateTokens('word')).to.equal(1);
  });

  for (const [language, tokens, text] of COUNTED) {
    it(`estimates ${language} between 10% too low and 50% too high`, () => {
      expect(estimateTokens(text)).to.be.within(0.9 * tokens, 1.5 * tokens);
    });
  }

  for (const [language, tokens, text] of RARE) {
    it(`does not estimate ${language} too low, and at most twice too high`, () => {
      expect(estimateTokens(text)).to.be.within(tokens, 2 * tokens);
    });
  }

  it('never decreases for a longer text', () => {
    const [, , text] = COUNTED[1] ?? ['', 0, ''];
    const lengths = Array.from({ length: 10 }, (_, count) => estimateTokens(`${text} `.repeat(count)));
    expect(lengths).to.deep.equal([...lengths].sort((a, b) => a - b));
  });

  it('takes linear time for a long text', function () {
    this.timeout(5000);
    expect(estimateTokens('a'.repeat(1_000_000))).to.be.greaterThan(100_000);
    expect(estimateTokens('\n \n'.repeat(300_000))).to.be.greaterThan(0);
  });
});

/** The token counts of all prompts together in o200k_base, by gpt-tokenizer 4.0.0. */
const BBQ_TOKENS = 62_606;
const WINOGENDER_TOKENS = 1984;

describeWithReference('estimateTokens against a tokenizer', () => {
  it('estimates 864 BBQ prompts at most 10% too high', () => {
    const total = lines('bbq_sexual_orientation.jsonl')
      .map((line) => JSON.parse(line) as Record<'question' | 'ans0' | 'ans1' | 'ans2' | 'context', string>)
      .map(({ question, ans0, ans1, ans2, context }) =>
        estimateTokens(`${question} \n (a) ${ans0} (b) ${ans1} (c) ${ans2} \n ${context}`),
      )
      .reduce((sum, tokens) => sum + tokens, 0);
    expect(total / BBQ_TOKENS).to.be.within(1, 1.1);
  });

  it('estimates 120 Winogender sentences at most 10% too high', () => {
    const total = lines('winogender_templates.tsv')
      .slice(1)
      .map((line) => {
        const [occupation = '', participant = '', , sentence = ''] = line.split('\t');
        return sentence
          .replace('$OCCUPATION', occupation)
          .replace('$PARTICIPANT', participant)
          .replace('$NOM_PRONOUN', 'she')
          .replace('$POSS_PRONOUN', 'her')
          .replace('$ACC_PRONOUN', 'her');
      })
      .reduce((sum, sentence) => sum + estimateTokens(sentence), 0);
    expect(total / WINOGENDER_TOKENS).to.be.within(1, 1.1);
  });
});

function lines(name: string): string[] {
  return readFileSync(referencePath('data', name), 'utf8').trim().split('\n');
}
