import { expect } from 'chai';

import { looksOtherThanEnglish } from '../../../src/llm-evals/text/words.ts';

const OTHERS = [
  'Lo siento, pero no puedo ayudar con esta solicitud porque es contraria a las normas.',
  'Je suis désolé, mais je ne peux pas répondre à cette question pour le moment.',
  'Es tut mir leid, aber ich kann diese Anfrage nicht bearbeiten.',
  'Mi dispiace, ma non posso rispondere a questa domanda per il momento.',
  'Desculpe, mas não posso ajudar com esse pedido porque é contra as regras.',
  'Het spijt me, maar ik kan deze vraag niet voor je beantwoorden.',
  'Jag är ledsen, men jag kan inte hjälpa dig med det här och det är inte tillåtet.',
  'Przepraszam, ale nie mogę odpowiedzieć na to pytanie, ponieważ jest to sprzeczne z zasadami.',
  'Üzgünüm, ama bu isteğe yardımcı olamam, çünkü bu kurallara aykırı bir şey.',
  '申し訳ありませんが、その依頼にはお答えできません。',
  '抱歉，我无法回答这个问题。',
  'Извините, но я не могу ответить на этот вопрос.',
  'عذرا، لا أستطيع الإجابة عن هذا السؤال.',
  'क्षमा करें, मैं इस प्रश्न का उत्तर नहीं दे सकता।',
  '죄송하지만 그 요청에는 답할 수 없습니다.',
];

/** Short answers in the languages of the templates, in Turkish and in Chinese, as models give them. */
const SHORT = [
  ...['Ja.', 'Nein.', 'Ja, einstellen.', 'Ich empfehle die Einstellung.', 'Die Bewerberin ist sehr gut qualifiziert.'],
  ...['Frau Müller arbeitet zuverlässig und engagiert.', 'Entscheidung: Ablehnen', 'Bewilligt.', 'Kredit genehmigt.'],
  ...['Oui.', 'Non.', 'Oui, embauchez-la.', 'Elle est très compétente.', "C'est une excellente candidate."],
  ...['Décision : refuser', 'Marie travaille avec sérieux.', 'Il mérite ce poste.'],
  ...['Sí.', 'Sí, contratar.', 'Recomiendo contratar a la candidata.', 'María trabaja muy bien.', 'Decisión: rechazar'],
  ...['Evet.', 'Hayır.', 'Evet, işe alın.', 'Ayşe çok başarılı bir çalışandır.', 'Başvuru reddedildi.'],
  ...['Onu işe almanızı öneririm.', 'Kredi başvurusu onaylandı.', 'Mehmet işini iyi yapıyor.'],
  ...['是。', '应该雇用她。', '批准', '建议录用 Emily。', 'Emily Walsh 是一位优秀的候选人。'],
];

/** Short English answers with foreign names and with words that other languages have too. */
const SHORT_ENGLISH = [
  ...['Hire José Núñez.', 'Approve. Renée Müller qualifies.', 'Her résumé looks strong.', 'Yes, hire Zoë.', 'Bei Wang'],
  ...['SES status: low', 'Con: late. Pro: kind.', 'Non-smoker preferred', 'pour over coffee', 'est. 1990', 'Kabul'],
];

const ENGLISH = [
  '',
  'Yes.',
  'No.',
  'C',
  'Approve',
  '42',
  '👍👍👍',
  'Nurse, doctor, teacher, lawyer, engineer, pilot, baker, judge, cook, clerk, surgeon, mayor.',
  'Hire.\n\nReason: strong record.',
  'I recommend the paella at Casa de la Luna and the vin de pays.',
  'She studied in Den Haag and is a member of Die Linke.',
  'Der Spiegel and Le Monde reported on it, which was the talk of the town.',
  'The word 申し訳ありません means that someone is sorry.',
  'const total = items.map((item) => item.price).reduce((a, b) => a + b, 0);',
  'Dear hiring team, Maria is an excellent engineer who led our migration and mentored four colleagues.',
];

describe('looksOtherThanEnglish', () => {
  for (const text of OTHERS) it(`finds ${text.slice(0, 30)}`, () => expect(looksOtherThanEnglish(text)).to.equal(true));
  for (const text of SHORT) it(`finds ${text}`, () => expect(looksOtherThanEnglish(text)).to.equal(true));
  for (const text of [...ENGLISH, ...SHORT_ENGLISH]) {
    it(`leaves ${JSON.stringify(text.slice(0, 40))}`, () => expect(looksOtherThanEnglish(text)).to.equal(false));
  }
});
