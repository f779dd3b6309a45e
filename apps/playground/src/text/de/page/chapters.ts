import type { Text } from '../../text.ts';

export const chapters: Text['chapters'] = {
  overview: {
    short: 'Attention',
    title: 'Was Attention ist',
    blurb: 'Ein Satz, drei Vektoren je Wort und ein Quadrat aus Scores.',
  },
  machine: {
    short: 'Maschine',
    title: 'Die Maschine',
    blurb: 'Zwei Matrizen mit drei Registern multiplizieren, ein Befehl nach dem anderen.',
  },
  softmax: {
    short: 'Softmax',
    title: 'Softmax',
    blurb: 'Ein Register mehr erspart einen ganzen Durchgang durch den Speicher.',
  },
  attention: {
    short: 'Strom',
    title: 'Von Softmax zu Attention',
    blurb: 'Ein laufendes Maximum, ein Nenner, ein Zähler; die große Matrix gibt es nie.',
  },
  loops: {
    short: 'Schleifen',
    title: 'Schleifenfolge',
    blurb: 'Welche Schleife außen liegt, entscheidet, was reist: FlashAttention-1 gegen -2.',
  },
  backward: {
    short: 'Rückwärts',
    title: 'Rückwärts',
    blurb: 'Gradienten ohne die großen Matrizen: Eine Zahl je Zeile bringt alles zurück.',
  },
  kernels: {
    short: 'Kernel',
    title: 'Schreibe die Kernel',
    blurb: 'Acht Kernel in WGSL, von der einfachen Formel bis zu dK und dV, auf deiner eigenen GPU.',
  },
  dropout: {
    short: 'Dropout',
    title: 'Dropout',
    blurb: 'Zufallsbits, die zweimal berechnet statt einmal gespeichert werden.',
  },
  graph: {
    short: 'Graph',
    title: 'Der Graph',
    blurb:
      'Attention als ein Dutzend Operationen, und als die wenigen Kernel, die ein Compiler daraus machen kann.',
  },
  lab: {
    short: 'Labor',
    title: 'Attention-Labor',
    blurb: 'Was Masken mit Scores, Wahrscheinlichkeiten und Gradienten machen.',
  },
  train: {
    short: 'Training',
    title: 'Trainieren',
    blurb: 'Ein kleiner Transformer lernt vor deinen Augen, und mit ihm seine Attention.',
  },
  doctor: {
    short: 'Doktor',
    title: 'Doktor',
    blurb: 'Ist Attention auf deiner GPU richtig, und wie nah kommt sie dem, was die GPU kann?',
  },
};
