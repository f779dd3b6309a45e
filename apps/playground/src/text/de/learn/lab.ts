import type { Text } from '../../text.ts';

export const lab: Text['lab'] = {
  intro: S =>
    `Ein Kopf, ${S} Queries (nach unten) und ${S} Keys (nach rechts). Graue Paare sind maskiert: Sie bekommen kein Gewicht und keinen Gradienten. Zeig auf ein Paar oder wandere mit den Pfeiltasten, um seine Zahlen zu lesen.`,
  mask: 'Maske',
  scores: 'Scores',
  probabilities: 'Wahrscheinlichkeiten P',
  gradients: 'Gradienten der Scores',
  hidden: 'maskiert',
  pair: (i, j) => `Query ${i}, Key ${j}`,
  mapLabel: (title, i, j, value) =>
    `${title}: Query ${i}, Key ${j}: ${value}. Pfeiltasten wählen ein anderes Paar.`,
  range: (low, high) => `${low} bis ${high}`,
  seen: share => `${share} aller Paare sind sichtbar.`,
  masks: {
    none: { title: 'Keine Maske', about: 'Jede Query sieht jeden Key.' },
    causal: {
      title: 'Kausal',
      about:
        'Eine Query sieht die Keys bis zu ihrer eigenen Position. Kacheln oberhalb der Diagonale werden übersprungen.',
    },
    window: {
      title: 'Gleitendes Fenster',
      about:
        'Eine Query sieht nur die nächsten Keys; die Arbeit wächst also mit der Länge und nicht mit ihrem Quadrat.',
      value: 'Keys nach links',
    },
    alibi: {
      title: 'ALiBi',
      about: 'Ein Abzug wächst mit dem Abstand von Query und Key. Er ersetzt Positions-Embeddings.',
      value: 'Steigung',
    },
    softcap: {
      title: 'Softcap',
      about: 'c·tanh(s/c) dämpft die Scores, sodass keiner von ihnen dominieren kann.',
      value: 'Grenze c',
    },
    document: {
      title: 'Dokumente',
      about:
        'Mehrere Dokumente in einer Sequenz: Keine Query sieht ein anderes Dokument. Der Kernel wertet die Mask-Mod für jedes Paar bis zur Diagonale aus. Eine Blockmaske würde ihm sagen, welche Kacheln er überspringen kann.',
      value: 'Dokumente',
    },
    prefix: {
      title: 'Präfix',
      about:
        'Jede Query sieht die ersten Keys. Danach ist die Maske kausal. Das sagt die Mask-Mod Paar für Paar, also überspringt der Kernel keine Kachel.',
      value: 'Länge des Präfixes',
    },
    dilated: {
      title: 'Dilatiert',
      about:
        'Eine Query sieht nur jeden zweiten, dritten oder n-ten Key, von ihr aus gezählt: Wenige Keys reichen weit. Bis zur Diagonale hat jede Kachel sichtbare Paare, also spart der Kernel keine Arbeit.',
      value: 'Abstand',
    },
    block: {
      title: 'Blockmaske',
      about:
        'Kacheln von 128 × 128, die keine Query braucht, werden gar nicht berechnet. Die Maske hat ein Bit pro Kachel und entsteht aus einer Mask-Mod (hier: ein globales Präfix und die Nachbarschaft). In den anderen Kacheln wird die Mask-Mod für jedes Paar ausgewertet.',
      value: 'Keys auf jeder Seite',
    },
    sink: {
      title: 'Sink',
      about:
        'Ein weiteres Logit ohne Value-Vektor nimmt sich seinen Anteil: Die Summe der Gewichte aller Keys kann kleiner als eins sein.',
      value: 'Logit des Sinks',
    },
  },
};
