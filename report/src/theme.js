// Light, dark, or as the system has it; and drawing all pictures again where the theme or the width is another.
import { oncePerFrame } from './dom.js';
import { remember } from './state.js';

const names = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' };
const all = [];

// Each: { redraw(), resize() }.
export const pictures = {
    add: (one) => all.push(one),
    redraw: () => all.forEach((one) => one.redraw && one.redraw()),
    start() {
        all.forEach((one) => one.redraw && one.redraw());
        let width = innerWidth;
        addEventListener(
            'resize',
            oncePerFrame(() => {
                if (innerWidth !== width) all.forEach((one) => (one.resize || one.redraw)());
                width = innerWidth;
            }),
        );
    },
};

export function setTheme(theme, keep = true) {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById('theme');
    button.textContent = names[theme];
    button.setAttribute('aria-label', names[theme] + '. Change it');
    if (keep) remember('theme', theme);
    pictures.redraw();
}

export function startTheme() {
    const order = Object.keys(names);
    setTheme(names[remember('theme')] ? remember('theme') : 'auto', false);
    document.getElementById('theme').addEventListener('click', () => {
        const now = document.documentElement.dataset.theme || 'auto';
        setTheme(order[(order.indexOf(now) + 1) % order.length]);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => pictures.redraw());
}
