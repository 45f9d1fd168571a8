import { expect } from 'chai';
import { porterStem } from '../../../src/llm-evals/text/similarity/porter-stem.ts';

describe('porterStem', () => {
  // The examples of Porter (1980) for each step, with all steps applied.
  const published =
    'caresses:caress ponies:poni caress:caress cats:cat feed:feed agreed:agre plastered:plaster bled:bled motoring:motor ' +
    'sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz ' +
    'failing:fail filing:file happy:happi sky:sky relational:relat conditional:condit rational:ration valenci:valenc ' +
    'hesitanci:hesit digitizer:digit conformabli:conform radicalli:radic differentli:differ vileli:vile analogousli:analog ' +
    'vietnamization:vietnam predication:predic operator:oper feudalism:feudal decisiveness:decis hopefulness:hope ' +
    'callousness:callous formaliti:formal sensitiviti:sensit sensibiliti:sensibl triplicate:triplic formative:form ' +
    'formalize:formal electriciti:electr electrical:electr goodness:good revival:reviv allowance:allow inference:infer ' +
    'airliner:airlin gyroscopic:gyroscop adjustable:adjust defensible:defens irritant:irrit replacement:replac ' +
    'adjustment:adjust dependent:depend adoption:adopt communism:commun activate:activ angulariti:angular ' +
    'homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control roll:roll';
  for (const pair of published.split(' ')) {
    const [word = '', stem = ''] = pair.split(':');
    it(`${word} is ${stem}, as published`, () => {
      expect(porterStem(word)).to.equal(stem);
    });
  }

  // NLTK 3.10.4, PorterStemmer().stem, the source of these changes.
  const changed =
    'ties:tie dies:die dying:die died:die enjoy:enjoy boys:boy spied:spi using:use successfully:success news:news geology:geolog';
  for (const pair of changed.split(' ')) {
    const [word = '', stem = ''] = pair.split(':');
    it(`${word} is ${stem}, as in NLTK`, () => {
      expect(porterStem(word)).to.equal(stem);
    });
  }

  it('does not change a word of one or two letters', () => {
    expect(['', 'a', 'is', 'by'].map(porterStem)).to.deep.equal(['', 'a', 'is', 'by']);
  });
});
