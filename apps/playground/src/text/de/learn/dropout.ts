import type { ChapterTexts } from '../../text.ts';

export const dropout: ChapterTexts['dropout'] = {
  intro:
    'Dropout verwirft jedes Attention-Gewicht mit der Wahrscheinlichkeit p. Die Auswahl zu speichern, würde ein Bit pro Gewicht kosten. Stattdessen wird jedes Bit berechnet, wenn es gebraucht wird: aus einem Seed und aus seinem Platz in der Matrix. Philox macht aus einem Zähler zufällige Wörter. Derselbe Zähler ergibt dieselben Wörter, im Vorwärts- wie im Rückwärtsdurchlauf und auf jedem Rechner.',
  oneSeed: 'Ein Seed, drei Konventionen',
  seed: 'Seed',
  offset: 'Offset',
  share: 'Verworfen (p)',
  noNumber: (seed, offset) =>
    `Seed und Offset sind ganze Zahlen von 0 bis 2⁶⁴ − 1. Die Masken gehören zu Seed ${seed} und Offset ${offset}.`,
  schemes: {
    'torch-efficient': {
      title: 'PyTorch, memory-efficient',
      unit: 'ein Wort pro Element, 10 Runden',
      how: 'Die Elemente sind vom Offset an zeilenweise nummeriert; der Zähler ist diese Nummer geteilt durch vier, der Rest wählt das Wort. Ein Element bleibt, wenn sein Wort mindestens p·2³² ist; PyTorch vergleicht 32-Bit-Gleitkommazahlen, deren Rundung diese Schwelle ein wenig verschiebt.',
    },
    'flash-attention-2': {
      title: 'FlashAttention-2',
      unit: 'ein Byte pro Element, 7 Runden',
      how: 'Die Maske ist so angeordnet, wie Tensor Cores sie halten: in Kacheln von 16 × 32, in denen jedes Element zu einer von 32 Lanes gehört. Ein Block entscheidet über sechzehn Elemente, mit einem Byte pro Element; p ist also ein Vielfaches von 1/256.',
    },
    onednn: {
      title: 'oneDNN',
      unit: 'ein Wort pro Element, 10 Runden',
      how: 'Der Offset füllt die eine Hälfte des Zählers, die Nummer des Elements die andere; ein anderer Offset ist also ein anderer Zufallsstrom. Vier Nachbarn in einer Zeile teilen sich einen Block.',
    },
  },
  maskLabel: (title, i, j, kept) =>
    `${title}: Element (${i}, ${j}) ist ${kept ? 'behalten' : 'verworfen'}. Pfeiltasten wählen ein anderes.`,
  comparing: 'Die Engine zieht dieselbe Maske …',
  compared: (differ, total, write) =>
    differ === 0
      ? `Die Maske der Engine ist in allen ${write(total)} Elementen dieselbe.`
      : `Die Maske der Engine ist in ${write(differ)} von ${write(total)} Elementen anders.`,
  comparedWith: {
    webgpu: ({ description }) =>
      `Hier in TypeScript gezogen und vom Attention-Kernel auf der GPU (${description}); Bit für Bit verglichen.`,
    'no-webgpu': () =>
      'Hier in TypeScript gezogen und von der CPU-Engine, denn dieser Browser hat kein WebGPU; Bit für Bit verglichen.',
    'gpu-failed': ({ reason }) =>
      `Hier in TypeScript gezogen und von der CPU-Engine; Bit für Bit verglichen. Die GPU war nicht zu gebrauchen: ${reason}`,
  },
  keptShare: 'Behalten',
  fromP: 'Abweichung',
  across: 'Waagrecht',
  down: 'Senkrecht',
  note: '64 Queries × 64 Keys; helle Elemente bleiben. „Abweichung“ ist der Abstand des behaltenen Anteils von 1 − p in Standardabweichungen; „Waagrecht“ und „Senkrecht“ sind die Korrelationen von Nachbarn.',
  element: (i, j, title) => `Query ${i}, Key ${j}: ${title}`,
  neighbourhood: 'Die Elemente ringsum: anklicken, um eines zu wählen',
  mates: 'Grüne Elemente bleiben. Über die umrandeten entscheidet derselbe Philox-Block.',
  counter: 'Zähler',
  key: 'Schlüssel (der Seed)',
  word: lane => `Wort ${lane}`,
  byte: (byte, lane) => `Byte ${byte} von Wort ${lane}`,
  decision: 'Entscheidung',
  kept: rule => `${rule} gilt: behalten`,
  dropped: rule => `${rule} gilt nicht: verworfen`,
  drawn: (share, edge) =>
    `Der Strich ist die gezogene Zahl, bei ${share} ihres Bereichs. Die Schwelle liegt bei ${edge}; im grünen Teil bleibt ein Element erhalten.`,
  rounds: n => `${n} Runden Philox`,
  round: 'Runde',
  block: 'Block',
  flipped: 'Bits, die anders wären, wenn ein Bit des Zählers gekippt würde',
  roundsWhy:
    'Eine Runde multipliziert zwei der Wörter mit Konstanten, vertauscht die Hälften und mischt den Schlüssel ein. Nach jeder Runde wächst ein Wort des Schlüssels um den Nachkommateil des Goldenen Schnitts, das andere um den von √3. Nach wenigen Runden verändert ein gekipptes Bit etwa die Hälfte aller 128 Bits.',
  why: 'Warum kein gewöhnlicher Zufallszahlengenerator?',
  whyAnswer: [
    'Ein gewöhnlicher Generator hat einen Zustand, der mit jeder Zahl weiterläuft: Für die millionste Zahl muss man zuerst alle anderen ziehen. Aber die Workgroups einer GPU berechnen Kacheln in beliebiger Reihenfolge, und der Rückwärtsdurchlauf geht einen anderen Weg als der Vorwärtsdurchlauf. Ein zählerbasierter Generator hat keinen Zustand: Der Platz des Elements *ist* der Zähler.',
  ],
  keepMask: 'Und wenn ich eine eigene Maske habe?',
  keepMaskAnswer: [
    'Übergib sie als `dropout: { mask, p }`. Der Kernel liest dann ein Byte pro Gewicht, statt eine Zufallszahl zu ziehen. Das kostet Speicher, reproduziert aber jede beliebige Maske.',
  ],
};
