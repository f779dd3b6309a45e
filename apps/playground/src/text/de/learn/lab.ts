import type { Text } from '../../text.ts';

export const lab: Text['lab'] = {
  intro: S =>
    `Ein Kopf, ${S} Queries (nach unten) und ${S} Keys (nach rechts). Graue Paare sind verdeckt: Sie bekommen kein Gewicht und keinen Gradienten. Zeig auf ein Paar oder geh mit den Pfeiltasten, um seine Zahlen zu sehen.`,
  mask: 'Maske',
  scores: 'Scores',
  probabilities: 'Wahrscheinlichkeiten P',
  gradients: 'Gradienten der Scores',
  hidden: 'verdeckt',
  pair: (i, j) => `Query ${i}, Key ${j}`,
  mapLabel: (title, i, j, value) =>
    `${title}: Query ${i}, Key ${j}: ${value}. Pfeiltasten wählen ein anderes Paar.`,
  range: (low, high) => `${low} bis ${high}`,
  seen: share => `${share} aller Paare sind zu sehen.`,
  masks: {
    none: { title: 'Keine Maske', about: 'Jede Query sieht jeden Key.' },
    causal: {
      title: 'Kausal',
      about:
        'Eine Query sieht die Keys bis zu ihrer eigenen Stelle. Kacheln über der Diagonale werden übersprungen.',
    },
    window: {
      title: 'Gleitendes Fenster',
      about: 'Nur die nächsten Keys: Die Arbeit wächst mit der Länge, nicht mit ihrem Quadrat.',
      value: 'Keys nach links',
    },
    alibi: {
      title: 'ALiBi',
      about: 'Ein Abzug, der mit dem Abstand wächst, ersetzt Positionen.',
      value: 'Steigung',
    },
    softcap: {
      title: 'Softcap',
      about: 'Scores werden durch c·tanh(s/c) gebogen, sodass keiner alles bestimmt.',
      value: 'Grenze c',
    },
    document: {
      title: 'Dokumente',
      about: 'Mehrere Dokumente in einer Sequenz: Keine Query sieht ein anderes Dokument.',
      value: 'Dokumente',
    },
    prefix: {
      title: 'Präfix',
      about: 'Die ersten Keys sehen alle; danach ist es kausal.',
      value: 'Länge des Präfixes',
    },
    dilated: {
      title: 'Gespreizt',
      about: 'Jeder soundsovielte Key, von der Query aus gezählt: weit mit wenig Arbeit.',
      value: 'Abstand',
    },
    block: {
      title: 'Blockmaske',
      about:
        'Kacheln von 128 × 128, nach denen niemand fragt, werden gar nicht berechnet: je ein Bit, aus einer Masken-Mod gemacht (hier: ein globales Präfix und die Nachbarschaft).',
      value: 'Keys auf jeder Seite',
    },
    sink: {
      title: 'Sink',
      about: 'Ein weiterer Logit ohne Wert: Die Summe der Gewichte kann kleiner als eins sein.',
      value: 'Logit des Sinks',
    },
  },
};
