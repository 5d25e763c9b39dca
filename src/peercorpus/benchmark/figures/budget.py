"""Define how many figures a question may show, their maximum size, and the text beside them."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import version

INTRODUCTION = "The following images show figures and tables of the paper, each after a line with its page and caption."
"""Text between a paper and its first image."""
BEFORE_IMAGE = "Image {number} of {count}, page {page}. {caption}"
"""Text before each image."""
WORDS_DIGEST = hashlib.sha256(f"{INTRODUCTION}\0{BEFORE_IMAGE}".encode()).hexdigest()[:12]
"""First 12 digits of the SHA-256 of the text beside images, which is not part of the prompts without images."""
BYTES_PER_KB = 1_000
PIXELS_PER_MEGAPIXEL = 1_000_000
WITHOUT = "without figures"
"""Name of the arm with the same questions without images."""


@dataclass(frozen=True, slots=True)
class FigureBudget:
    """Limits for the images of one question.

    Attributes:
        figures: Maximum number of images.
        image_kb: Maximum total size, in kilobytes; base64 makes them a third larger in transit.
        megapixels: Maximum total number of pixels, in millions.
    """

    figures: int = 8
    image_kb: int = 2_000
    megapixels: int = 8

    @property
    def arm(self) -> str:
        """Name of the arm with figures, as in tables."""
        return f"with at most {self.figures} figures"

    @property
    def says(self) -> str:
        """The limits, as stated in logs and tables."""
        return (
            f"at most {self.figures:,} figures of {self.image_kb:,} kB and {self.megapixels:,} megapixels together in a"
            " question, the first ones of the text that is shown"
        )

    @property
    def signature(self) -> str:
        """Everything that determines the images of a question and the text beside them."""
        limits = f"most:{self.figures}|kb:{self.image_kb}|megapixels:{self.megapixels}"
        return f"figures|{limits}|order:text|words:{WORDS_DIGEST}|peercorpus:{version('peercorpus')}"
