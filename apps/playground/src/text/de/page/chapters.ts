import type { Text } from '../../text.ts';

export const chapters: Text['chapters'] = {
  overview: {
    short: 'Attention',
    title: 'Was Attention ist',
    blurb: 'Ein Satz, drei Vektoren pro Wort und ein Quadrat aus Scores.',
  },
  machine: {
    short: 'Maschine',
    title: 'Die Maschine',
    blurb: 'Zwei Matrizen mit drei Registern multiplizieren, Befehl für Befehl.',
  },
  softmax: {
    short: 'Softmax',
    title: 'Softmax',
    blurb: 'Ein Register mehr spart einen ganzen Durchgang durch den Speicher.',
  },
  attention: {
    short: 'Streaming',
    title: 'Vom Softmax zur Attention',
    blurb: 'Ein laufendes Maximum, ein Nenner, ein Zähler; die große Matrix entsteht nie.',
  },
  loops: {
    short: 'Schleifen',
    title: 'Schleifenreihenfolge',
    blurb: 'Welche Schleife außen liegt, bestimmt, was bewegt wird: FlashAttention-1 und FlashAttention-2.',
  },
  backward: {
    short: 'Rückwärts',
    title: 'Rückwärtsdurchlauf',
    blurb: 'Gradienten ohne die großen Matrizen: Eine Zahl pro Zeile bringt alles zurück.',
  },
  kernels: {
    short: 'Kernel',
    title: 'Kernel schreiben',
    blurb: 'Acht Kernel in WGSL, von der einfachen Formel bis zu dK und dV, auf deiner eigenen GPU.',
  },
  dropout: {
    short: 'Dropout',
    title: 'Dropout',
    blurb: 'Zufallsbits, die man zweimal berechnet, statt sie einmal zu speichern.',
  },
  graph: {
    short: 'Graph',
    title: 'Der Graph',
    blurb:
      'Attention als ein Dutzend Operationen und als die wenigen Kernel, die ein Compiler daraus machen kann.',
  },
  lab: {
    short: 'Labor',
    title: 'Attention-Labor',
    blurb: 'Was Masken mit Scores, Wahrscheinlichkeiten und Gradienten machen.',
  },
  train: {
    short: 'Training',
    title: 'Trainieren',
    blurb: 'Ein kleiner Transformer lernt vor deinen Augen, worauf er achten muss.',
  },
  doctor: {
    short: 'Diagnose',
    title: 'Diagnose',
    blurb: 'Rechnet Attention auf deiner GPU richtig, und wie nah kommt sie an das heran, was die GPU kann?',
  },
};
