import type { Text } from '../text.ts';

export const chapters: Text['chapters'] = {
  machine: {
    title: 'Die Maschine',
    blurb: 'Zwei Matrizen mit drei Registern multiplizieren, ein Befehl nach dem anderen.',
  },
  softmax: {
    title: 'Softmax',
    blurb: 'Ein Register mehr erspart einen ganzen Durchgang durch den Speicher.',
  },
  attention: {
    title: 'Von Softmax zu Attention',
    blurb: 'Ein laufendes Maximum, ein Nenner, ein Zähler; die große Matrix gibt es nie.',
  },
  loops: {
    title: 'Schleifenfolge',
    blurb: 'Welche Schleife außen liegt, entscheidet, was reist: FlashAttention-1 gegen -2.',
  },
  backward: {
    title: 'Rückwärts',
    blurb: 'Gradienten ohne die großen Matrizen: Eine Zahl je Zeile bringt alles zurück.',
  },
  dropout: {
    title: 'Dropout',
    blurb: 'Zufallsbits, die zweimal berechnet statt einmal gespeichert werden.',
  },
  graph: {
    title: 'Der Graph',
    blurb:
      'Attention als ein Dutzend Operationen, und als die wenigen Kernel, die ein Compiler daraus machen kann.',
  },
  lab: {
    title: 'Attention-Labor',
    blurb: 'Was Masken mit Scores, Wahrscheinlichkeiten und Gradienten machen.',
  },
  train: {
    title: 'Trainieren',
    blurb: 'Ein kleiner Transformer lernt vor deinen Augen, und mit ihm seine Attention.',
  },
  bench: {
    title: 'Messen',
    blurb: 'Die Kernel auf der eigenen Maschine, neben Attention, die ihre Scores speichert.',
  },
};
