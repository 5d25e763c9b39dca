"""Read PDF files through pdfium: glyphs, fonts, drawn shapes and page images."""
