import type { ChapterTexts } from '../../text.ts';

export const dropout: ChapterTexts['dropout'] = {
  intro:
    'Dropout verwirft jedes Attentiongewicht mit der Wahrscheinlichkeit p. Um sich zu merken, welche, brauchte man so viele Bits, wie es Gewichte gibt. Stattdessen wird jedes Bit berechnet, wenn es gebraucht wird, aus einem Seed und aus seinem Ort: Philox macht aus einem Zähler zufällige Wörter, und aus demselben Zähler dieselben Wörter, vorwärts wie rückwärts, auf jeder Maschine.',
  oneSeed: 'Ein Seed, drei Konventionen',
  seed: 'Seed',
  offset: 'Offset',
  share: 'Verworfen (p)',
  noNumber: 'Seed und Offset sind ganze Zahlen von 0 bis 2⁶⁴ − 1.',
  schemes: {
    'torch-efficient': {
      title: 'PyTorch, memory-efficient',
      unit: 'ein Wort je Element, 10 Runden',
      how: 'Die Elemente sind vom Offset an zeilenweise nummeriert; der Zähler ist diese Nummer durch vier, der Rest wählt das Wort. Behalten wird, wenn das Wort mindestens p·2³² ist.',
    },
    'flash-attention-2': {
      title: 'FlashAttention-2',
      unit: 'ein Byte je Element, 7 Runden',
      how: 'Die Maske ist geschnitten, wie Tensor Cores sie halten: Kacheln von 16 × 32, und darin für jedes Element eine von 32 Lanes. Ein Block entscheidet sechzehn Elemente, je ein Byte; p ist also ein Vielfaches von 1/256.',
    },
    onednn: {
      title: 'oneDNN',
      unit: 'ein Wort je Element, 10 Runden',
      how: 'Der Offset füllt die eine Hälfte des Zählers, die Nummer des Elements die andere: Ein anderer Offset ist ein anderer Strom. Vier Elemente nebeneinander teilen sich einen Block.',
    },
  },
  maskLabel: (title, i, j, kept) =>
    `${title}: Element (${i}, ${j}) ist ${kept ? 'behalten' : 'verworfen'}. Pfeiltasten wählen ein anderes.`,
  comparing: 'Die Engine zieht dieselbe Maske …',
  compared: (differ, total) =>
    differ === 0
      ? `Die Maske der Engine ist in allen ${total} Elementen dieselbe.`
      : `Die Maske der Engine ist in ${differ} von ${total} Elementen anders.`,
  comparedWith: {
    webgpu: ({ description }) =>
      `Hier in TypeScript gezogen und vom Attention-Kernel auf der GPU (${description}); Bit für Bit verglichen.`,
    'no-webgpu': () =>
      'Hier in TypeScript gezogen und von der CPU-Engine, denn dieser Browser hat kein WebGPU; Bit für Bit verglichen.',
    'gpu-failed': ({ reason }) =>
      `Hier in TypeScript gezogen und von der CPU-Engine; Bit für Bit verglichen. Die GPU war nicht zu gebrauchen: ${reason}`,
  },
  keptShare: 'Behalten',
  fromP: 'Von p',
  across: 'Quer',
  down: 'Hinab',
  note: '64 Queries × 64 Keys; Hell ist behalten. „Von p“ ist der Abstand des behaltenen Anteils von 1 − p in Standardabweichungen; „Quer“ und „Hinab“ sind die Korrelationen von Nachbarn.',
  element: (i, j, title) => `Query ${i}, Key ${j}: ${title}`,
  neighbourhood: 'Die Elemente ringsum: eines drücken, um es zu wählen',
  mates: 'Grün ist behalten. Umrandet: vom selben Philox-Block entschieden.',
  counter: 'Zähler',
  key: 'Schlüssel (der Seed)',
  word: lane => `Wort ${lane}`,
  byte: (byte, lane) => `Byte ${byte} von Wort ${lane}`,
  decision: 'Entscheidung',
  kept: rule => `${rule} gilt: behalten`,
  dropped: rule => `${rule} gilt nicht: verworfen`,
  drawn: (share, edge) => `Die gezogene Zahl liegt bei ${share} ihres Bereichs, die Schwelle bei ${edge}`,
  rounds: n => `${n} Runden Philox`,
  round: 'Runde',
  block: 'Block',
  flipped: 'Bits, die anders wären, wäre ein Bit des Zählers gekippt',
  roundsWhy:
    'Eine Runde multipliziert zwei der Wörter mit Konstanten, vertauscht die Hälften und mischt den Schlüssel ein, dessen eines Wort um den gebrochenen Teil des Goldenen Schnitts wächst und das andere um den von √3. Nach wenigen Runden hat ein gekipptes Bit etwa die Hälfte aller 128 verändert.',
  why: 'Warum kein gewöhnlicher Zufallsgenerator?',
  whyAnswer: [
    'Ein gewöhnlicher Generator hat einen Zustand, der mitläuft: Wer seine millionste Zahl wissen will, muss alle davor ziehen. Arbeitsgruppen einer GPU berechnen Kacheln in beliebiger Folge, und rückwärts geht es einen anderen Weg als vorwärts. Ein zählerbasierter Generator hat keinen Zustand: Der Ort des Elements *ist* der Zähler.',
  ],
  keepMask: 'Und wenn ich eine eigene Maske habe?',
  keepMaskAnswer: [
    'Gib sie an: `dropout: { mask, p }`. Dann wird je Gewicht ein Byte gelesen statt berechnet; das kostet Speicher, gibt aber alles wieder.',
  ],
};
